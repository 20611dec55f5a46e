"""Importance of nodes: degrees, paths and links."""
