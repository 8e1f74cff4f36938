import CLinux
import Glibc

/// The parts of stat(2) that the spool uses.
struct FileStatus: Sendable, Equatable {
  /// The type of a directory entry.
  enum Kind: Sendable, Equatable {
    case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice
  }

  let kind: Kind
  /// The lowest twelve bits of its mode.
  let permissions: mode_t
  let device: UInt64
  let inode: UInt64
  let size: Int64
  /// The space it takes on disk, in bytes: less than its size if it has holes.
  let allocated: Int64
  let links: UInt64
  let owner: UInt32
  let group: UInt32
  /// Nanoseconds since 1970.
  let modified: Int64
  /// When the inode last changed, including its name and owner. No program can set it. Nanoseconds since 1970.
  let changed: Int64

  init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: kind = .directory
    case S_IFLNK: kind = .symbolicLink
    case S_IFIFO: kind = .fifo
    case S_IFSOCK: kind = .socket
    case S_IFCHR: kind = .characterDevice
    case S_IFBLK: kind = .blockDevice
    default: kind = .regular
    }
    permissions = status.st_mode & 0o7777
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    allocated = Int64(status.st_blocks) * 512
    links = UInt64(status.st_nlink)
    owner = status.st_uid
    group = status.st_gid
    modified = FileStatus.nanoseconds(status.st_mtim)
    changed = FileStatus.nanoseconds(status.st_ctim)
  }

  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }

  /// Whether the file hasn't been written to between the other status and this one.
  func hasSameContents(as other: FileStatus) -> Bool {
    isSameFile(as: other) && size == other.size && modified == other.modified
  }

  /// The wall clock, in nanoseconds since 1970 like the file system's times.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return nanoseconds(time)
  }

  /// The clock that the kernel stamps files with: the time of its last tick, some milliseconds ago.
  static func tick() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return nanoseconds(time)
  }

  /// A forged time may be far outside the range of an Int64 of nanoseconds; it is clamped to that range.
  private static func nanoseconds(_ time: timespec) -> Int64 {
    let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return time.tv_sec < 0 ? .min : .max }
    let (sum, tooBig) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
    return tooBig ? .max : sum
  }
}

/// What distinguishes a file from every other that has or had its name, across restarts of the daemon and the machine:
/// `inode:birth:size:mtime` as text, with times in nanoseconds.
///
/// No program can set the birth time, so a file that is dropped again with its old mtime, on a reused inode, has another mark.
/// What doesn't touch the contents (owner, mode, attributes) doesn't change the mark. The device isn't part of it, because
/// its number may change at boot. If the file system doesn't record the birth, the inode's last change replaces it.
struct FileMark: Equatable, CustomStringConvertible {
  let description: String

  init(_ file: OpenFile) {
    self.init(file.status, born: FileMark.birth(file.descriptor.number, FileName("")))
  }

  /// The mark of the entry with this name in the directory, or nil if there is none. Blocks.
  init?(of name: FileName, in directory: DirectoryHandle) throws {
    let born = FileMark.birth(directory.descriptor.number, name)
    guard let status = try directory.status(of: name) else { return nil }
    self.init(status, born: born)
  }

  init(text: String) { description = text }

  private init(_ status: FileStatus, born: Int64?) {
    description = "\(status.inode):\(born ?? status.changed):\(status.size):\(status.modified)"
  }

  private static func birth(_ directory: Int32, _ name: FileName) -> Int64? {
    var nanoseconds: Int64 = 0
    return lade_birth_time(directory, name.terminated, &nanoseconds) == 0 ? nanoseconds : nil
  }
}
