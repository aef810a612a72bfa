"""The retrieval engine."""

import os

# Products of a question with a few thousand rows gain nothing from threads, and their workers contend with the
# embedder's: on two busy cores a search took 5 to 8 ms instead of 1.5. Read when numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
