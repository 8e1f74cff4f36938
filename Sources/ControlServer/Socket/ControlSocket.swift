import Glibc
import Synchronization

/// The control socket's file, from nothing to listening and back.
///
/// Invariants:
/// 1. There is no moment at which a process that the mode and group don't allow could connect. The socket is bound in
///    a directory that only we can enter, gets its mode and group there, and only then is renamed to where clients
///    look. (The umask would do it too, but it is the whole process's, and other threads create files.)
/// 2. A client that sees the path can connect: the socket listens before the rename makes it visible.
/// 3. A socket with a listener is never removed. A lock beside it, held for the process's lifetime, decides between
///    two daemons that start at once; a test connection detects other programs.
/// 4. On the way out only our own file is removed: the one with the device and inode number that we published.
package final class ControlSocket: Sendable {
  private struct Identity: Equatable {
    var device: UInt
    var inode: UInt
  }

  private struct State {
    var lock: Int32
    var published: Identity?
  }

  private let address: SocketAddress
  private let state: Mutex<State>

  private static let suffix = ".new"
  private static let stagingName = "/s"

  /// The most bytes that the path of a control socket can have: `sun_path` of unix(7) must also hold the longer path at which the
  /// socket is bound before it is published.
  package static var longestPath: Int {
    MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1 - (suffix + stagingName).utf8.count
  }

  private var stagingDirectory: String { address.path + Self.suffix }

  /// Where it is bound; ``publish()`` renames it.
  private var stagingPath: String { stagingDirectory + Self.stagingName }
  /// Connections that wait to be accepted, at most.
  private static let backlog: Int32 = 256

  /// Takes the lock, refuses a socket that is in use, and makes the directory to bind in.
  /// - Throws: ``ControlSocketError``.
  init(at address: SocketAddress) throws {
    self.address = address
    guard address.path.utf8.count <= Self.longestPath else {
      throw ControlSocketError.pathTooLong(path: address.path, limit: Self.longestPath)
    }
    let lock = try Self.lock(address.path)
    state = Mutex(State(lock: lock, published: nil))
    do {
      try Self.refuseIfInUse(address.path)
      unlink(stagingPath)
      rmdir(stagingDirectory)
      guard mkdir(stagingDirectory, 0o700) == 0 else { throw failed("make the directory", stagingDirectory) }
    } catch {
      withdraw()
      throw error
    }
  }

  deinit { withdraw() }

  /// Binds the socket and listens. No client can connect yet.
  /// - Returns: its descriptor, which is the caller's.
  /// - Throws: ``ControlSocketError``.
  func listen() throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failed("make a socket", address.path) }
    do {
      let bound = Self.withAddress(of: stagingPath) { bind(descriptor, $0, $1) }
      guard bound == 0 else { throw failed("bind the socket", stagingPath) }
      guard Glibc.listen(descriptor, Self.backlog) == 0 else { throw failed("listen on the socket", stagingPath) }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Lets clients in: gives the bound socket its mode and group, and puts it at its path in place of a stale one.
  /// - Throws: ``ControlSocketError``.
  func publish() throws {
    try state.withLock { state in
      // A shutdown that came before the socket was bound has taken everything away again.
      guard state.lock >= 0 else { return }
      if let group = address.group, chown(stagingPath, uid_t.max, group) != 0 {
        throw failed("give the socket to group \(group)", address.path)
      }
      guard chmod(stagingPath, address.mode) == 0 else { throw failed("set the socket's mode", address.path) }
      guard let identity = Self.identity(of: stagingPath) else { throw failed("look at the socket", stagingPath) }
      guard rename(stagingPath, address.path) == 0 else { throw failed("put the socket in its place", address.path) }
      state.published = identity
      rmdir(stagingDirectory)
    }
  }

  /// Takes the socket's file away, if it is ours, and gives the lock back. May be called again.
  func withdraw() {
    state.withLock { state in
      guard state.lock >= 0 else { return }
      if let published = state.published, Self.identity(of: address.path) == published { unlink(address.path) }
      unlink(stagingPath)
      rmdir(stagingDirectory)
      close(state.lock)
      state.lock = -1
    }
  }

  private static func lock(_ path: String) throws -> Int32 {
    let lockPath = path + ".lock"
    let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw ControlSocketError.failed(operation: "open the lock", path: lockPath, errno: errno)
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      guard code == EWOULDBLOCK else {
        throw ControlSocketError.failed(operation: "take the lock", path: lockPath, errno: code)
      }
      throw ControlSocketError.inUse(path: path)
    }
    return descriptor
  }

  private static func refuseIfInUse(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw ControlSocketError.failed(operation: "look at it", path: path, errno: errno) }
      return
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw ControlSocketError.notASocket(path: path) }
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { throw ControlSocketError.failed(operation: "make a socket", path: path, errno: errno) }
    defer { close(probe) }
    switch connect(probe, to: path) {
    case ECONNREFUSED, ENOENT: return
    case 0: throw ControlSocketError.inUse(path: path)
    case let code: throw ControlSocketError.failed(operation: "see whether anybody listens", path: path, errno: code)
    }
  }

  /// 0, or the error's number.
  private static func connect(_ descriptor: Int32, to path: String) -> Int32 {
    withAddress(of: path) { Glibc.connect(descriptor, $0, $1) } == 0 ? 0 : errno
  }

  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in bytes.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, inode: status.st_ino)
  }

  private func failed(_ operation: String, _ path: String) -> ControlSocketError {
    .failed(operation: operation, path: path, errno: errno)
  }
}

/// Where the control socket is, and who may connect to it.
package struct SocketAddress: Sendable, Hashable {
  /// The socket's path; its directory must exist.
  package var path: String
  /// Its permission bits; connecting needs the write bit.
  package var mode: UInt32
  /// The group it gets; nil for the daemon's own.
  package var group: UInt32?

  /// An address; by default owner and group may connect.
  package init(path: String, mode: UInt32 = 0o660, group: UInt32? = nil) {
    self.path = path
    self.mode = mode
    self.group = group
  }
}

/// Why the control socket couldn't be made.
package enum ControlSocketError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A daemon has it, starting or running.
  case inUse(path: String)
  /// There is something there that isn't a socket, and isn't ours to remove.
  case notASocket(path: String)
  /// A Unix socket's path has at most `limit` bytes.
  case pathTooLong(path: String, limit: Int)
  case failed(operation: String, path: String, errno: Int32)

  package var description: String {
    switch self {
    case .inUse(let path):
      "\(path): another laded listens on this socket, or is about to; stop it, or give this one a socket of its own"
    case .notASocket(let path):
      "\(path): there is a file that isn't a socket; move it away"
    case .pathTooLong(let path, let limit):
      "\(path): the path of a socket can have \(limit) bytes here; choose a shorter one"
    case .failed(let operation, let path, let code):
      "\(path): couldn't \(operation): \(String(cString: strerror(code)))"
    }
  }
}
