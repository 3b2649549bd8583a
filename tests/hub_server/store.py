"""What a Hub keeps: repositories, their commits and branches, and the large files. Plain data, no HTTP."""

import fnmatch
import hashlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

LARGE_FILES = ("*.parquet", "*.arrow", "*.safetensors", "*.bin", "*.pt", "*.zip", "*.gz", "*.npy", "*.npz")
LARGE_SIZE = 10_000_000
PREFIXES = {"model": "", "dataset": "datasets/", "space": "spaces/"}


@dataclass(frozen=True)
class Blob:
    content: bytes
    large: bool = False

    @property
    def git_id(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content).hexdigest()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def etag(self) -> str:
        return self.sha256 if self.large else self.git_id


Tree = Mapping[str, Blob]


@dataclass(frozen=True)
class Commit:
    id: str
    parent: str | None
    tree: Tree
    title: str
    date: str


@dataclass
class Repository:
    type: str
    id: str
    private: bool
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, tree: Tree, title: str) -> Commit:
        parent = self.branches.get(branch)
        names = "".join(f"{name}\0{blob.etag}\n" for name, blob in sorted(tree.items()))
        identity = f"{self.type}/{self.id}\n{parent}\n{title}\n{len(self.commits)}\n{names}"
        made = Commit(
            hashlib.sha1(identity.encode()).hexdigest(),
            parent,
            dict(tree),
            title,
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        )
        self.commits[made.id] = made
        self.branches[branch] = made.id
        return made

    def find(self, revision: str) -> Commit | None:
        """A branch, a tag, or a commit id of at least seven digits."""
        named = self.branches.get(revision) or self.tags.get(revision)
        if named:
            return self.commits[named]
        matching = [c for c in self.commits.values() if len(revision) >= 7 and c.id.startswith(revision)]
        return matching[0] if len(matching) == 1 else None

    def history(self, commit: Commit | None) -> Iterator[Commit]:
        while commit is not None:
            yield commit
            commit = self.commits.get(commit.parent or "")

    @property
    def head(self) -> Commit:
        return self.commits[self.branches["main"]]


@dataclass
class Store:
    """Everything a Hub knows.

    Args:
        tokens: token to role, "write" or "read".
        user: whose tokens they are.
        organisations: what the user belongs to.
    """

    tokens: dict[str, str]
    user: str
    organisations: tuple[str, ...]
    repositories: dict[tuple[str, str], Repository] = field(default_factory=dict)
    large_files: dict[str, bytes] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def create(self, repo_type: str, repo_id: str, *, private: bool, sdk: str | None = None) -> Repository:
        """A new repository with the files that the Hub itself puts into it."""
        made = Repository(repo_type, repo_id, private)
        attributes = "".join(f"{p} filter=lfs diff=lfs merge=lfs -text\n" for p in LARGE_FILES)
        tree = {".gitattributes": Blob(attributes.encode())}
        if repo_type == "space":
            tree["README.md"] = Blob(f"---\ntitle: {repo_id}\nsdk: {sdk}\n---\n\nA new Space.\n".encode())
        made.commit("main", tree, "initial commit")
        self.repositories[repo_type, repo_id] = made
        return made

    def put(self, repo_type: str, repo_id: str, files: Mapping[str, bytes], title: str = "put") -> Commit:
        """Commit files as somebody else would, without the client; names are not checked."""
        with self.lock:
            found = self.repositories.get((repo_type, repo_id))
            repository = found or self.create(repo_type, repo_id, private=False)
            added = {name: Blob(content, is_large(name, len(content))) for name, content in files.items()}
            return repository.commit("main", {**repository.head.tree, **added}, title)

    def files(self, repo_type: str, repo_id: str, revision: str = "main") -> dict[str, bytes]:
        commit = self.repositories[repo_type, repo_id].find(revision)
        if commit is None:
            raise KeyError(revision)
        return {name: blob.content for name, blob in commit.tree.items()}


def is_large(name: str, size: int) -> bool:
    return size > LARGE_SIZE or any(fnmatch.fnmatch(name, pattern) for pattern in LARGE_FILES)
