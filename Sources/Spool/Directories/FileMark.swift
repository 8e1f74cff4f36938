// What tells a file from every other that has or had its name, over restarts of daemon and machine: `inode:birth:size:mtime`,
// times in nanoseconds. Nobody can set when a file was made, so that one dropped again with its old time, on a used inode, is
// another; and what doesn't touch its contents (owner, mode, attributes) leaves it the same. The device isn't in it, for
// its number may change at a boot. Where the file system doesn't keep its birth, the inode's last change stands for it.

import CLinux

/// A file's mark, as text.
struct FileMark: Equatable, CustomStringConvertible {
  let description: String

  init(_ file: OpenFile) {
    self.init(file.status, born: FileMark.birth(file.descriptor.number, FileName("")))
  }

  /// The mark of what has this name in the directory, or nil if nothing has. Blocks.
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
