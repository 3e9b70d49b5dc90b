"""Bytes on the port: connections, what strangers may cost, HTTP/1 and WebSocket frames."""
