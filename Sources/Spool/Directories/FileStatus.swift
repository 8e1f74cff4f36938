import Glibc

/// What stat(2) says of a directory's entry, as far as the spool cares.
struct FileStatus: Sendable, Equatable {
  /// What an entry of a directory is.
  enum Kind: Sendable, Equatable {
    case regular, directory, symbolicLink, fifo, socket, characterDevice, blockDevice
  }

  let kind: Kind
  /// The lowest twelve bits of its mode.
  let permissions: mode_t
  let device: UInt64
  let inode: UInt64
  let size: Int64
  /// What it takes up on the disk, in bytes: less than its size if it has holes.
  let allocated: Int64
  let links: UInt64
  let owner: UInt32
  let group: UInt32
  /// Nanoseconds since 1970.
  let modified: Int64
  /// When the inode last changed, its name and owner included: nobody can set it. Nanoseconds since 1970.
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

  /// Whether nobody has written to the file since the other status of it was taken.
  func hasSameContents(as other: FileStatus) -> Bool {
    isSameFile(as: other) && size == other.size && modified == other.modified
  }

  /// The wall clock in nanoseconds since 1970, as the file system's times are.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return nanoseconds(time)
  }

  /// The clock that the kernel stamps files with: that of its last tick, some milliseconds ago.
  static func tick() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return nanoseconds(time)
  }

  /// A forged time may be far outside what an Int64 of nanoseconds holds: it then counts as the nearest that it does.
  private static func nanoseconds(_ time: timespec) -> Int64 {
    let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return time.tv_sec < 0 ? .min : .max }
    let (sum, tooBig) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
    return tooBig ? .max : sum
  }
}
