import Foundation
import Testing

@testable import Importing

@Suite("Text in other encodings")
struct TextEncodingTests {
  private func read(_ bytes: [UInt8], _ options: ReaderOptions = ReaderOptions()) throws -> ReadResult {
    try SourceFile(bytes, name: "a.csv").read(options)
  }

  private func utf16(_ text: String, bigEndian: Bool = false) -> [UInt8] {
    text.utf16.flatMap { bigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
  }

  @Test("every character comes through UTF-16 and UTF-32")
  func wide() throws {
    let text = "id,n\n1,é ž 日本 上, 😀 👩‍🚀\n2,\u{FFFD}\u{E000}\u{10FFFF}\n"
    let plain = try read(Array(text.utf8))
    for big in [false, true] {
      #expect(try read(utf16(text, bigEndian: big)).cells == plain.cells)
      #expect(try read(utf16("\u{FEFF}" + text, bigEndian: big)).cells == plain.cells)
      let wide = text.unicodeScalars.flatMap { scalar in
        (0..<4).map { UInt8(scalar.value >> (8 * (big ? 3 - $0 : $0)) & 0xFF) }
      }
      #expect(try read(wide, ReaderOptions(encoding: big ? .utf32BE : .utf32LE)).cells == plain.cells)
    }
  }

  @Test("UTF-16 without a mark is known in any script; binary data isn't taken for it")
  func guessing() throws {
    func guess(_ bytes: [UInt8]) -> TextEncoding {
      EncodingGuess(sample: bytes, isWhole: true, options: ReaderOptions()).encoding
    }
    let scripts = ["id,name\n1,Ann\n", "编号,名称\n一,上海\n二,北京\n", "код;имя\r\n1;Анна\r\n", "[{\"a\":\"上\"}]"]
    for text in scripts {
      #expect(guess(utf16(text)) == .utf16LE)
      #expect(guess(utf16(text, bigEndian: true)) == .utf16BE)
      #expect(guess(Array(text.utf8)) == .utf8)
    }
    #expect(guess(Array("a,b\n1,\u{0}\n".utf8)) == .utf8)
    #expect(guess([0, 1, 0, 2, 0, 3, 0, 4]) == .utf8)
    #expect(guess([0xEF, 0xBB, 0xBF]) == .utf8)
    #expect(guess([0xFF, 0xFE]) == .utf16LE)
    #expect(guess([]) == .utf8)
  }

  @Test("a lone surrogate or an odd last byte costs its record, not the file")
  func invalidWide() throws {
    var bytes = utf16("id,n\n1,a\n2,")
    bytes += [0x00, 0xD8] + utf16("\n3,c\n4,d") + [0x41]
    let result = try read(bytes)
    #expect(result.problems == [nil, .invalidText(.utf16LE), nil, .invalidText(.utf16LE)])
    #expect(result.lines == [2, 3, 4, 5])
    #expect(result.cells.first == ["1", "a"] && result.cells.dropFirst(2).first == ["3", "c"])
  }

  @Test("eight-bit encodings, from tables here and the system's")
  func singleByte() throws {
    func cell(_ byte: UInt8, _ encoding: TextEncoding) throws -> String? {
      try read(Array("n\nx".utf8) + [byte] + Array("y\n".utf8), ReaderOptions(encoding: encoding)).cells.first?.first
    }
    #expect(try cell(0xE9, .latin1) == "xéy")
    #expect(try cell(0x80, .windows1252) == "x€y")
    #expect(try cell(0x9F, .windows1252) == "xŸy")
    #expect(try cell(0xA4, .latin9) == "x€y")
    #expect(try cell(0xB1, .latin2) == "xąy")
    #expect(try cell(0x9C, .windows1250) == "xśy")
    #expect(try cell(0xC6, .windows1251) == "xЖy")
    #expect(try cell(0xE1, .windows1253) == "xαy")
    #expect(try cell(0xF0, .windows1254) == "xğy")
    #expect(try cell(0xE0, .windows1257) == "xąy")
    #expect(try cell(0xC1, .koi8r) == "xаy")
    #expect(try cell(0x81, .ibm437) == "xüy")
    #expect(try cell(0x81, .ibm850) == "xüy")
    #expect(try cell(0x8A, .macintosh) == "xäy")
    let bad = try read(Array("n\nx".utf8) + [0x81, 0x0A] + Array("y\n".utf8), ReaderOptions(encoding: .windows1252))
    #expect(bad.problems == [.invalidText(.windows1252), nil])
    for encoding in TextEncoding.allCases where encoding.isSingleByte {
      let entries = try SingleByteTable(encoding).entries
      #expect((0..<128).allSatisfy { entries[$0] == UInt32($0) | 1 << 24 }, "\(encoding)")
    }
  }

  @Test("what isn't UTF-8 is Windows-1252 only where the options say so")
  func fallback() throws {
    let bytes = Array("id,n\n1,caf".utf8) + [0xE9, 0x0A] + Array("2,x\n".utf8)
    #expect(try read(bytes).problems == [.invalidUTF8, nil])
    let options = ReaderOptions(fallbackEncoding: .windows1252)
    #expect(try read(bytes, options).cells == [["1", "café"], ["2", "x"]])
    // Where anything is UTF-8, the rest is a mistake.
    let mixed = bytes + Array("3,né\n".utf8)
    #expect(try read(mixed, options).problems == [.invalidUTF8, nil, nil])
    #expect(try read(Array("id\né\n".utf8), options).cells == [["é"]])
    let file = try SourceFile(bytes, name: "a.csv")
    func notes(_ options: ReaderOptions) throws -> [String] {
      try openSource(fileDescriptor: file.descriptor, name: "a.csv", options: options, from: nil).detection.notes
    }
    #expect(
      try notes(options) == ["the file isn't UTF-8; its encoding was assumed to be windows-1252, as the options say"])
    #expect(
      try notes(.init()) == [
        "not all of the file is UTF-8; if it is in another encoding (windows-1252?), name that as encoding"
      ])
    #expect(try read([0xE9] + bytes).error == .notUTF8(line: 1, looksLike: "an 8-bit encoding such as Latin-1"))
  }

  @Test("a byte order mark wins over the options")
  func mark() throws {
    let options = ReaderOptions(encoding: .windows1252)
    #expect(try read(Array("\u{FEFF}n\né\n".utf8), options).named == [["n": "é"]])
    #expect(try read(utf16("\u{FEFF}n\né\n", bigEndian: true), options).named == [["n": "é"]])
  }

  @Test("an XML document's own declaration holds, unless the options say otherwise")
  func declaration() throws {
    let xml = Array("<?xml version='1.0' encoding=\"ISO-8859-1\"?><r><a n='".utf8) + [0xE9] + Array("'/></r>".utf8)
    let file = try SourceFile(xml, name: "a.xml")
    #expect(try file.read(ReaderOptions()).records.map(\.problem) == [nil])
    #expect(EncodingGuess(sample: xml, isWhole: true, options: .init()).encoding == .latin1)
    let cyrillic = ReaderOptions(encoding: .windows1251)
    #expect(EncodingGuess(sample: xml, isWhole: true, options: cyrillic).encoding == .windows1251)
  }

  @Test("names are known in the ways people write them")
  func names() throws {
    for (name, encoding) in [
      ("UTF-8", TextEncoding.utf8), ("utf8", .utf8), ("Latin-1", .latin1), ("CP1252", .windows1252),
      ("Windows-1252", .windows1252), ("utf-16", .utf16LE), ("UTF_16BE", .utf16BE), ("ISO-8859-15", .latin9),
      ("cp1251", .windows1251), ("ANSI", .windows1252),
    ] {
      #expect(TextEncoding(name: name) == encoding, "\(name)")
    }
    #expect(TextEncoding(name: "utf-7") == nil)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ReaderOptions.self, from: Data(#"{"encoding":"utf-7"}"#.utf8))
    }
    let options = ReaderOptions(
      member: "a*", encoding: .latin1, fallbackEncoding: .windows1252, maximumExpansion: 9, maximumUnpackedBytes: 10)
    #expect(try JSONDecoder().decode(ReaderOptions.self, from: JSONEncoder().encode(options)) == options)
  }
}
