"""No more experiments on customers, nor runs that warm the cache; parameters that an experiment put in force stay."""

from __future__ import annotations

from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    op.execute("UPDATE tuner_params SET action = 'put' WHERE action = 'experiment'")
    for table in ("tuner_experiment_turns", "tuner_experiments"):
        op.drop_table(table)
    op.execute("DELETE FROM job_runs WHERE kind = 'cache_warming'")
