"""A log that wakes and records by way of Apache Kafka.

The store stays the truth; imported only where log.url says so.
"""
