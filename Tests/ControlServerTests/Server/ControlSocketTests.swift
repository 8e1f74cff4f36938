import ControlAPI
import ControlTestSupport
import Foundation
import Glibc
import Logging
import Testing

@testable import ControlServer
@testable import ladectl

@Suite("The control socket")
struct ControlSocketTests {
  private func mode(of path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }

  @Test("the socket has its mode, and nothing else but its lock is left beside it")
  func mode() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      #expect(mode(of: server.path) == 0o660)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["s", "s.lock"])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["s.lock"])
  }

  @Test("until it is published, only its owner can reach it")
  func staging() throws {
    let directory = try TemporaryDirectory()
    let socket = try ControlSocket(at: SocketAddress(path: directory.file("s"), mode: 0o600))
    #expect(mode(of: directory.file("s.new")) == 0o700)
    let descriptor = try socket.listen()
    defer { close(descriptor) }
    #expect(mode(of: directory.file("s")) == nil)
    try socket.publish()
    #expect(mode(of: directory.file("s")) == 0o600)
    #expect(mode(of: directory.file("s.new")) == nil)
  }

  @Test("a socket that a killed daemon left is replaced")
  func stale() async throws {
    let directory = try TemporaryDirectory()
    _ = try PlainSocket(boundTo: directory.file("s"), listening: true)
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
    }
  }

  @Test("a socket on which somebody listens stays theirs")
  func inUse() throws {
    let directory = try TemporaryDirectory()
    let other = try PlainSocket(boundTo: directory.file("s"), listening: true)
    #expect(throws: ControlSocketError.inUse(path: directory.file("s"))) {
      try ControlSocket(at: SocketAddress(path: directory.file("s")))
    }
    _ = try PlainSocket(connectingTo: directory.file("s"))
    withExtendedLifetime(other) {}
  }

  @Test("a socket that is passed is served, and is its maker's before and after")
  func passed() async throws {
    let directory = try TemporaryDirectory()
    let theirs = try PlainSocket(boundTo: directory.file("s"), listening: true)
    let client = try PlainSocket(connectingTo: directory.file("s"))
    try await RunningServer.with(MemoryBackend(), at: directory.file("s"), passed: dup(theirs.descriptor)) {
      server async throws in
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["s"])
    }
    // Who connects now waits for the next server.
    let next = try PlainSocket(connectingTo: directory.file("s"))
    try await RunningServer.with(MemoryBackend(), at: directory.file("s"), passed: dup(theirs.descriptor)) {
      server async throws in
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
    }
    withExtendedLifetime((client, next, theirs)) {}
  }

  @Test("a second daemon is refused, and the first goes on")
  func second() async throws {
    let directory = try TemporaryDirectory()
    try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      let another = ControlServer(
        backend: MemoryBackend(), address: SocketAddress(path: server.path), logger: Logger(label: "test"))
      await #expect(throws: ControlSocketError.inUse(path: server.path)) { try await another.run() }
      #expect(try await ask(server.path, .GET, "/v1/status").status == 200)
    }
  }

  @Test("a file that isn't a socket is left alone")
  func file() throws {
    let directory = try TemporaryDirectory()
    try Data("precious".utf8).write(to: URL(fileURLWithPath: directory.file("s")))
    #expect(throws: ControlSocketError.notASocket(path: directory.file("s"))) {
      try ControlSocket(at: SocketAddress(path: directory.file("s")))
    }
    #expect(try String(contentsOfFile: directory.file("s"), encoding: .utf8) == "precious")
  }

  @Test("on the way out, a socket that has taken our place stays")
  func replaced() async throws {
    let directory = try TemporaryDirectory()
    var other: PlainSocket?
    other = try await RunningServer.with(MemoryBackend(), at: directory.file("s")) { server async throws in
      unlink(server.path)
      return try PlainSocket(boundTo: server.path, listening: true)
    }
    #expect(mode(of: directory.file("s")) != nil)
    withExtendedLifetime(other) {}
  }

  @Test("a path of the greatest length can be listened on and connected to, and one more byte is refused")
  func longestPath() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.file("")
    let name = String(repeating: "s", count: ControlSocket.longestPath - folder.utf8.count)
    let address = SocketAddress(path: folder + name)
    #expect(address.path.utf8.count == ControlSocket.longestPath)
    let socket = try ControlSocket(at: address)
    close(try socket.listen())
    #expect(throws: ControlSocketError.self) { try ControlSocket(at: SocketAddress(path: folder + name + "s")) }
  }

  @Test("a path too long for a socket, or in no directory, is refused with its name")
  func impossible() throws {
    let long = "/tmp/" + String(repeating: "x", count: 100)
    #expect(throws: ControlSocketError.pathTooLong(path: long, limit: 101)) {
      try ControlSocket(at: SocketAddress(path: long))
    }
    let directory = try TemporaryDirectory()
    let error = #expect(throws: ControlSocketError.self) {
      try ControlSocket(at: SocketAddress(path: directory.file("none/s")))
    }
    #expect(error?.description.contains("none/s.lock") == true)
  }
}
