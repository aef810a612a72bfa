"""What attacks, benchmarks, drills and the integrator share: servers, programs, load, uploads, figures of processes."""
