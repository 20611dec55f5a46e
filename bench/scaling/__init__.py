"""What the programs would take on many machines, from volumes that are measured on partitions."""
