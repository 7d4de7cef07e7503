"""Making things: corpora, forks, pictures, benchmarks."""
