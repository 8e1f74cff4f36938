/// Files of Office programs, by their beginnings.
enum OfficeFile {
  private static let compound: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]
  /// The type of spreadsheets; that of their templates goes on.
  static let openDocumentSpreadsheet = "application/vnd.oasis.opendocument.spreadsheet"

  /// Whether the zip that begins like this is an OpenDocument spreadsheet, or a template of one: its first member is its
  /// type, not compressed. Source: OpenDocument 1.3, part 2, 3.3.
  static func isSpreadsheetOfOpenDocument(_ beginning: [UInt8]) -> Bool {
    let name = Array("mimetype".utf8)
    guard SourceArchiveKind.zipSignatures.contains(where: beginning.starts(with:)), beginning.count > 30,
      beginning[30...].starts(with: name)
    else { return false }
    let skipped = 30 + name.count + Int(beginning[28]) + Int(beginning[29]) << 8
    return beginning.dropFirst(skipped).starts(with: openDocumentSpreadsheet.utf8)
  }

  /// Refuses an old workbook and an encrypted one: both are compound files, which begin alike and differ in their directory.
  static func refuse(descriptor: Int32, beginning: [UInt8]) throws(ReaderError) {
    guard beginning.starts(with: compound), beginning.count >= 52 else { return }
    func number(_ place: Int, _ count: Int) -> Int64 {
      (0..<count).reversed().reduce(0) { $0 << 8 | Int64(beginning[place + $1]) }
    }
    let shift = number(30, 2)
    guard shift == 9 || shift == 12 else { return }
    let file = try PlainSource(descriptor: descriptor)
    guard file.seek(to: (number(48, 4) + 1) << shift) else { return }
    let directory = try file.readSample(4 << 10)
    func has(_ name: String) -> Bool { directory.firstRange(of: name.utf16.flatMap { [UInt8($0 & 0xFF), 0] }) != nil }
    if has("EncryptedPackage") { throw .workbook(.encrypted) }
    if has("Workbook") || has("Book") { throw .workbook(.oldFormat) }
  }
}
