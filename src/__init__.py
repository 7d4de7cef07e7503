"""What a kit does with a document: everything between the page and the answer. Nothing here imports `evals`."""
