/// How programs that upload mark what they haven't finished: by how its name begins or ends.
struct PartialNames: Sendable {
  /// What browsers, download managers and clients of FTP and SFTP append, and editors to what they keep. Names that begin
  /// with a dot are left alone, too: so rsync's `.NAME.XXXXXX` is.
  static let usual = PartialNames(more: [])

  private static let known = [
    ".part", ".partial", ".filepart", ".tmp", ".temp", ".swp", ".swx", ".crdownload", ".download", ".opdownload",
    ".aria2", ".uploading", ".inprogress", "~",
  ]

  /// Lower case, for letters of ASCII aren't told apart by their case.
  private let endings: [[UInt8]]
  private let longest: Int

  /// - Parameter more: endings besides the usual ones.
  init(more: [String]) {
    endings = (PartialNames.known + more).map { $0.utf8.map(PartialNames.lowercase) }
    longest = endings.map(\.count).max() ?? 0
  }

  /// Whether the name says that its writer hasn't finished: such an entry is left alone, whatever it is.
  func match(_ name: FileName) -> Bool {
    if name.terminated.first == CChar(bitPattern: UInt8(ascii: ".")) { return true }
    let tail = name.bytes.suffix(longest).map(PartialNames.lowercase)
    return endings.contains { !$0.isEmpty && tail.suffix($0.count).elementsEqual($0) }
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
