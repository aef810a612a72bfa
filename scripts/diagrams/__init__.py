"""Diagrams of the documents, drawn from the tables of the code."""
