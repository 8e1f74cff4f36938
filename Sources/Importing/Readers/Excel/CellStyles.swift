/// The part of a workbook that says how cells show their numbers.
enum CellStyles {
  /// Excel has at most 64,000 styles of cells.
  private static let limit = 1 << 17
  private static let codeLimit = 1 << 14

  /// For each style of cells, whether it shows its number as a date.
  static func read(_ part: PartReader) throws(ReaderError) -> [ExcelDate.Style] {
    guard case .start = try part.next(), part.isNamed("styleSheet") else { throw part.fault("it has no styles") }
    var codes: [Int: ExcelDate.Style] = [:]
    var styles: [ExcelDate.Style] = []
    while try part.nextChild(at: 1) {
      if part.isNamed("numFmts") {
        while try part.nextChild(at: 2) {
          if part.isNamed("numFmt"), let number = part.text(of: "numFmtId").flatMap({ Int($0) }),
            let code = part.text(of: "formatCode")
          {
            guard codes.count < codeLimit else { throw .workbook(.tooMuch(of: "number formats", limit: codeLimit)) }
            codes[number] = ExcelDate.Style(code: String(String.UnicodeScalarView(code.unicodeScalars.prefix(1_000))))
          }
          try part.skip()
        }
      } else if part.isNamed("cellXfs") {
        while try part.nextChild(at: 2) {
          if part.isNamed("xf") {
            guard styles.count < limit else { throw .workbook(.tooMuch(of: "styles", limit: limit)) }
            let number = part.text(of: "numFmtId").flatMap { Int($0) } ?? 0
            styles.append(codes[number] ?? ExcelDate.Style(builtIn: number))
          }
          try part.skip()
        }
      } else {
        try part.skip()
      }
    }
    return styles
  }
}
