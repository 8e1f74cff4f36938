/// A cell in the form in which nearly all programs write it, all of it in memory: `<c r="B2" s="1" t="s"><v>7</v></c>`, with
/// its attributes in any order, or `<c r="B2" t="inlineStr"><is><t>a</t></is></c>`, or empty. Nothing in it has to be decoded.
/// Any other form is left to ``PartReader``, which finds in this one what is found here, but in ten steps.
struct PlainCell {
  private(set) var reference: UnsafeBufferPointer<UInt8>?
  private(set) var style: UnsafeBufferPointer<UInt8>?
  private(set) var type: UnsafeBufferPointer<UInt8>?
  /// What stands in it; nil if it is empty.
  private(set) var value: UnsafeBufferPointer<UInt8>?
  /// Whether that is a text in place.
  private(set) var isInline = false
  /// The byte after the cell.
  private(set) var end: BytePointer

  /// The cell that begins at a place, after white space; nil if it has another form, or may go on after `end`.
  init?(_ start: BytePointer, _ end: BytePointer) {
    var place = JSONToken.skipSpace(start, end)
    guard Self.pass("<c", &place, end) else { return nil }
    self.end = place
    while true {
      guard place < end else { return nil }
      if place.pointee == UInt8(ascii: ">") { break }
      if place.pointee == UInt8(ascii: "/") {
        guard Self.pass("/>", &place, end) else { return nil }
        self.end = place
        return
      }
      guard end - place > 4, place[0] == UInt8(ascii: " ") else { return nil }
      let name = place[1]
      guard place[2] == UInt8(ascii: "="), place[3] == UInt8(ascii: "\"") else { return nil }
      guard let value = Self.text(place + 4, end, to: UInt8(ascii: "\"")) else { return nil }
      switch name {
      case UInt8(ascii: "r"): reference = value
      case UInt8(ascii: "s"): style = value
      case UInt8(ascii: "t"): type = value
      default: return nil
      }
      place += 5 + value.count
    }
    place += 1
    if Self.pass("<v>", &place, end) {
      guard let text = Self.text(place, end, to: XMLScanner.open) else { return nil }
      place += text.count
      guard Self.pass("</v></c>", &place, end) else { return nil }
      value = text
    } else if Self.pass("<is><t", &place, end) {
      _ = Self.pass(" xml:space=\"preserve\"", &place, end)
      guard Self.pass(">", &place, end), let text = Self.text(place, end, to: XMLScanner.open) else { return nil }
      place += text.count
      guard Self.pass("</t></is></c>", &place, end) else { return nil }
      (value, isInline) = (text, true)
    } else {
      return nil
    }
    self.end = place
  }

  @inline(__always)
  private static func pass(_ wanted: StaticString, _ place: inout BytePointer, _ end: BytePointer) -> Bool {
    let count = wanted.utf8CodeUnitCount
    guard end - place >= count else { return false }
    for index in 0..<count where place[index] != wanted.utf8Start[index] { return false }
    place += count
    return true
  }

  /// The bytes up to a byte; nil if there is none, or if they have to be decoded.
  @inline(__always)
  private static func text(
    _ start: BytePointer, _ end: BytePointer, to stop: UInt8
  ) -> UnsafeBufferPointer<UInt8>? {
    var place = start
    while place < end {
      let byte = place.pointee
      if byte == stop { return UnsafeBufferPointer(start: start, count: place - start) }
      if byte == XMLText.ampersand || byte == XMLScanner.open || byte == CSVDialect.carriageReturn { return nil }
      place += 1
    }
    return nil
  }
}
