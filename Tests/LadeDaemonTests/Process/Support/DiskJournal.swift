import Foundation

/// What a daemon has changed on the disk, as `Tests/FaultShim/faultshim.c` records it.
struct DiskJournal {
  /// A file's content, whatever its names: a number that isn't used twice, as that of an inode is.
  typealias FileID = Int

  enum Change {
    case create(String, FileID)
    case makeFolder(String)
    case write(FileID, offset: Int, Data)
    case truncate(FileID, Int)
    case rename(String, String)
    case link(String, String)
    case unlink(String)
    case removeFolder(String)

    /// The names that it changes; none if it changes a file's content.
    var names: [String] {
      switch self {
      case .create(let path, _), .makeFolder(let path), .unlink(let path), .removeFolder(let path): [path]
      case .rename(let from, let to), .link(let from, let to): [from, to]
      case .write, .truncate: []
      }
    }

    /// The folders that have to be synced for it to be durable.
    var folders: Set<String> {
      if case .rename(_, let to) = self { [DiskJournal.parent(of: to)] } else { Set(names.map(DiskJournal.parent)) }
    }

    /// The file whose content it changes.
    var file: FileID? {
      switch self {
      case .write(let file, _, _), .truncate(let file, _): file
      default: nil
      }
    }
  }

  /// One of what was recorded, in the order in which it was done.
  enum Entry {
    case change(Change)
    /// It has reached the disk what was changed before the entry with the number `begin`: of a file, in a folder, or anywhere.
    case syncedFile(FileID, begin: Int)
    case syncedFolder(String, begin: Int)
    case syncedAll(begin: Int)
    /// A submission was acknowledged.
    case acknowledged
    /// What doesn't matter here.
    case other
  }

  let entries: [Entry]

  private enum Kind: UInt32 {
    case create = 1
    case mkdir, write, truncate, sync, syncFolder, syncAll, rename, link, unlink, rmdir, answer
  }

  /// - Parameters:
  ///   - root: paths are relative to it; it is the empty one.
  ///   - files: the inodes that were there at the start.
  init(_ data: Data, root: String, files: [UInt64: FileID]) throws {
    var files = files
    var next = (files.values.max() ?? 0) + 1
    var entries: [Entry] = []
    func relative(_ bytes: Data) -> String {
      let path = String(decoding: bytes, as: UTF8.self)
      return path == root ? "" : path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
    }
    var place = data.startIndex
    func take(_ count: Int) throws -> Data {
      guard place + count <= data.endIndex else { throw POSIXError(.EBADMSG) }
      defer { place += count }
      return Data(data[place..<place + count])
    }
    while place < data.endIndex {
      let head = try take(32)
      func number32(_ offset: Int) -> Int {
        Int(head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) })
      }
      func number64(_ offset: Int) -> UInt64 {
        head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
      }
      let (first, second) = (relative(try take(number32(4))), relative(try take(number32(8))))
      let bytes = try take(number32(12))
      let (inode, number) = (number64(16), Int(truncatingIfNeeded: number64(24)))
      var entry = Entry.other
      switch Kind(rawValue: UInt32(number32(0))) {
      case .create:
        files[inode] = next
        entry = .change(.create(first, next))
        next += 1
      case .mkdir: entry = .change(.makeFolder(first))
      case .write: if let file = files[inode] { entry = .change(.write(file, offset: number, bytes)) }
      case .truncate: if let file = files[inode] { entry = .change(.truncate(file, number)) }
      case .sync: if let file = files[inode] { entry = .syncedFile(file, begin: number) }
      case .syncFolder: entry = .syncedFolder(first, begin: number)
      case .syncAll: entry = .syncedAll(begin: number)
      case .rename: entry = .change(.rename(first, second))
      case .link: entry = .change(.link(first, second))
      case .unlink: entry = .change(.unlink(first))
      case .rmdir: entry = .change(.removeFolder(first))
      case .answer: if bytes.starts(with: Data("HTTP/1.1 201".utf8)) { entry = .acknowledged }
      case nil: throw POSIXError(.EBADMSG)
      }
      entries.append(entry)
    }
    self.entries = entries
  }

  static func parent(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }
}
