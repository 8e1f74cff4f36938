/// The parts of a workbook: the files in its zip, by name. Nothing is unpacked to disk, and names are compared only: one that
/// leads out of the archive finds nothing.
struct WorkbookParts {
  let fileSize: Int64
  private let descriptor: Int32
  private let options: ReaderOptions
  private let blockSize: Int
  private let members: [String: ArchiveMember]

  /// - Throws: ``ReaderError``, what is wrong with the archive.
  init(descriptor: Int32, options: ReaderOptions, blockSize: Int) throws(ReaderError) {
    self.descriptor = descriptor
    self.options = options
    self.blockSize = blockSize
    let file = try PlainSource(descriptor: descriptor)
    fileSize = file.size
    let archive = try SourceArchive(
      .zip, over: file, limit: options.expansionLimit, blockSize: blockSize, withSystemFiles: true)
    members = Dictionary(archive.members.map { (Self.key($0.name), $0) }) { first, _ in first }
  }

  subscript(name: String) -> ArchiveMember? { members[Self.key(name)] }

  func require(_ name: String) throws(ReaderError) -> ArchiveMember {
    guard let part = self[name] else { throw .workbook(.missingPart(name: name)) }
    if part.isEncrypted { throw .workbook(.encrypted) }
    return part
  }

  /// The XML of a part. Each is read by a pass of its own, in any order.
  func open(_ member: ArchiveMember) throws(ReaderError) -> PartReader {
    let source = ArchiveSource(
      .archive(.zip), over: try PlainSource(descriptor: descriptor), member: (member.index, member.name, member.size),
      limit: options.expansionLimit, blockSize: blockSize)
    return try PartReader(source, part: member.name, options: options, blockSize: blockSize)
  }

  /// Names of parts don't differ by case, nor by the kind of their slashes.
  static func key(_ name: String) -> String {
    var key = name.lowercased().replacing("\\", with: "/")
    while key.hasPrefix("/") { key.removeFirst() }
    return key
  }
}
