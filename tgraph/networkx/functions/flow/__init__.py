"""Flows, cuts by flow, and connectivity."""
