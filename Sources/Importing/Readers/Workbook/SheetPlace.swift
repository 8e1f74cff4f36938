/// Places in a sheet, as Excel writes them.
enum SheetPlace {
  /// The index of the column of a reference such as `C7`, from 0; nil if it isn't one.
  static func column(of reference: UnsafeBufferPointer<UInt8>) -> Int? {
    var column = 0
    var letters = 0
    for byte in reference {
      let letter = byte & 0xDF &- 0x41
      guard byte & 0x40 != 0, letter < 26, letters < 3 else { break }
      column = column * 26 + Int(letter) + 1
      letters += 1
    }
    let digits = reference.count - letters
    guard letters > 0, (1...7).contains(digits), reference[letters...].allSatisfy({ $0 &- 0x30 < 10 }) else {
      return nil
    }
    return column - 1
  }

  /// The letters of a column, from 0: `A`, `XFD`.
  static func column(_ index: Int) -> String {
    var rest = index + 1
    var letters: [UInt8] = []
    while rest > 0 {
      letters.append(UInt8(ascii: "A") + UInt8((rest - 1) % 26))
      rest = (rest - 1) / 26
    }
    return String(decoding: letters.reversed(), as: UTF8.self)
  }

  /// A cell, or a row, as in a formula: `People!C7`, `'My people'!7:7`.
  static func name(_ sheet: String, row: Int64, column: Int?) -> String {
    let isPlain = sheet.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } && sheet.first?.isNumber != true
    let shown = SourceError.shown(sheet)
    let name = isPlain ? shown : "'\(shown.replacing("'", with: "''"))'"
    return "\(name)!" + (column.map { self.column($0) + "\(row)" } ?? "\(row):\(row)")
  }
}
