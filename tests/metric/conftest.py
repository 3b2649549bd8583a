from hub_server.fixtures import hub

__all__ = ["hub"]
