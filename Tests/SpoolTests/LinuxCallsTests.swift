import CLinux
import Dispatch
import Foundation
import Glibc
import Testing

@Suite("Linux calls beyond Glibc's module")
struct LinuxCallsTests {
  @Test("reports whether a file is open for writing, and no process is signalled")
  func lease() throws {
    let spool = try TemporarySpool()
    try spool.drop("tmp/x")
    let reader = open(spool.url("tmp/x"), O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    #expect(lade_is_open_for_writing(reader) == 0)
    let writer = open(spool.url("tmp/x"), O_WRONLY)
    #expect(lade_is_open_for_writing(reader) == 1)
    close(writer)
    // A writer who comes while the lease is held would end the process, were the signal SIGIO.
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      for _ in 0..<2000 {
        if index == 0 {
          _ = lade_is_open_for_writing(reader)
        } else {
          close(open(spool.url("tmp/x"), O_WRONLY))
        }
      }
    }
    #expect(lade_is_open_for_writing(reader) == 0)
    #expect(lade_is_open_for_writing(-1) == -EBADF)
  }

  @Test("makes folders with those above them, and refuses where something else is")
  func folders() throws {
    let spool = try TemporarySpool()
    try spool.drop("tmp/x")
    #expect(lade_make_folders(spool.url("tmp/a/b//c/"), 0o750) == 0)
    #expect(lade_make_folders(spool.url("tmp/a/b/c"), 0o750) == 0)
    var status = stat()
    #expect(stat(spool.url("tmp/a/b/c"), &status) == 0)
    #expect(status.st_mode & S_IFMT == S_IFDIR)
    #expect(lade_make_folders(spool.url("tmp/x/y"), 0o750) == -ENOTDIR)
    #expect(lade_make_folders(spool.url("tmp/x"), 0o750) == -ENOTDIR)
    #expect(lade_make_folders("", 0o750) == -ENOENT)
  }

  @Test("identifies the process at the other end of a Unix socket")
  func peer() throws {
    var pair: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    defer { for number in pair { close(number) } }
    var (pid, uid, gid) = (pid_t(), uid_t(), gid_t())
    #expect(lade_peer_credentials(pair[0], &pid, &uid, &gid) == 0)
    #expect(pid == getpid())
    #expect(uid == geteuid())
    #expect(gid == getegid())
    #expect(lade_peer_credentials(-1, &pid, &uid, &gid) == -EBADF)
  }

  @Test("opens a file beneath a directory and nothing outside it")
  func beneath() throws {
    let spool = try TemporarySpool()
    try spool.drop("tmp/x")
    try #require(symlink("x", spool.url("tmp/link")) == 0)
    let directory = open(spool.url("tmp"), O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    let file = lade_open_beneath(directory, "x", O_RDONLY)
    #expect(file >= 0)
    #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0)
    close(file)
    #expect(lade_open_beneath(directory, "link", O_RDONLY) == -ELOOP)
    #expect(lade_open_beneath(directory, "../tmp/x", O_RDONLY) == -EXDEV)
    #expect(lade_open_beneath(directory, spool.url("tmp/x"), O_RDONLY) == -EXDEV)
    #expect(lade_open_beneath(directory, "nothing", O_RDONLY) == -ENOENT)
  }

  @Test("renames without replacing")
  func rename() throws {
    let spool = try TemporarySpool()
    try spool.drop("tmp/x", "x")
    try spool.drop("tmp/y", "y")
    let directory = open(spool.url("tmp"), O_RDONLY | O_DIRECTORY)
    defer { close(directory) }
    #expect(lade_rename_noreplace(directory, "x", directory, "y") == -EEXIST)
    #expect(lade_rename_noreplace(directory, "x", directory, "z") == 0)
    #expect(try spool.text("tmp/z") == "x")
  }
}
