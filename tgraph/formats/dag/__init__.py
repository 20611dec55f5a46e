"""Layouts whose rows are a linear DAG: rules that rows share, and rows as differences to others."""
