"""What attacks, benchmarks and drills share: servers, programs, load, uploads, figures of processes."""
