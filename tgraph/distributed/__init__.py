"""Graphs over several processes, by torch.distributed."""
