import Foundation
import Testing

@testable import Importing

@Suite("Property lists")
struct PropertyListReaderTests {
  static let head =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
    + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">"

  func list(_ text: String, root: String? = nil) throws -> ReadResult {
    try read(Self.head + text + "\n</plist>\n", as: "a.plist", ReaderOptions(root: root))
  }

  @Test("an array's dictionaries are records, their keys columns; every kind of value keeps its kind")
  func kinds() throws {
    let result = try list(
      "<array><dict><key>s</key><string> a &lt; </string><key>i</key><integer> 9007199254740993 </integer>"
        + "<key>r</key><real>0.10</real><key>t</key><true/><key>f</key><false/><key>d</key><date>2024-02-29T12:00:00Z</date>"
        + "<key>b</key><data>\n\tAQ\n\tID\n</data><key>h</key><integer>0x1F</integer><key>e</key><string/>"
        + "<key>w</key><string> </string></dict>\n<dict><key>i</key><integer>1</integer>"
        + "<key>o</key><dict><key>k\"</key><array><real>1.5</real><string>é</string><true/><dict/></array></dict>"
        + "<key>i</key><string>last</string></dict></array>")
    #expect(result.error == nil)
    #expect(result.columns == ["s", "i", "r", "t", "f", "d", "b", "h", "e", "w", "o"])
    #expect(
      result.named == [
        [
          "s": " a < ", "i": "9007199254740993", "r": "0.10", "t": "<yes>", "f": "<no>", "d": "2024-02-29T12:00:00Z",
          "b": "AQID", "h": "0x1F", "e": "", "w": " ",
        ], ["i": "last", "o": #"<nested>{"k\"":[1.5,"é",true,{}]}"#],
      ])
    #expect(result.lines == [3, 7])
  }

  @Test("the array can stand under a key path")
  func root() throws {
    let text =
      "<dict><key>x</key><array><dict/></array><key>a</key><dict><key>b &amp; c</key><array>"
      + "<dict><key>k</key><string>v</string></dict></array></dict><key>z</key><array/></dict>"
    #expect(try list(text, root: "a.b & c").cells == [["v"]])
    #expect(try list(text, root: "z") == ReadResult())
    #expect(try list(text, root: "q").error == .rootNotFound(path: "q", found: ["x", "a", "z"]))
    #expect(try list(text, root: "z.q").error == .notAnArray(path: "z", found: "an array"))
    #expect(try list("<string>x</string>", root: "a").error == .notAnArray(path: "", found: "a string"))
    #expect(try list("<string>x</string>").error == .notAnArray(path: "", found: "a string"))
  }

  @Test("of a dictionary, the only array of dictionaries has the records, as in JSON")
  func found() throws {
    let text =
      "<dict><key>n</key><integer>2</integer><key>tags</key><array><string>x</string></array>"
      + "<key>rows</key><array><dict><key>a</key><integer>1</integer></dict></array></dict>"
    #expect(try list(text).named == [["a": "1"]])
    let two = "<dict><key>a</key><array><dict/></array><key>b</key><array><dict/><true/></array></dict>"
    #expect(try list(two).error == .severalRoots(found: ["a", "b"]))
    #expect(try list("<dict><key>count</key><integer>0</integer><key>items</key><array/></dict>") == ReadResult())
    #expect(try list("<dict/>").error == .rootNotFound(path: "", found: []))
  }

  @Test("a dictionary without an array of dictionaries is one record, and so is one under a key path, as in JSON")
  func alone() throws {
    let text =
      "\n<dict><key>id</key><integer>7</integer><key>tags</key><array/><key>in</key>\n"
      + "<dict><key>x</key><true/></dict></dict>"
    let whole = try list(text)
    #expect(whole.error == nil)
    #expect(whole.named == [["id": "7", "tags": "<nested>[]", "in": #"<nested>{"x":true}"#]])
    #expect(whole.lines == [4])
    #expect(try list(text, root: ".").named == whole.named)
    #expect(try list(text, root: "in").named == [["x": "<yes>"]])
    let file = try SourceFile(Array((Self.head + text + "</plist>").utf8), name: "a.plist")
    let reader = try openReader(fileDescriptor: file.descriptor, name: "a.plist", options: ReaderOptions(), from: nil)
    #expect(reader.findings.notes.first?.contains("one record") == true)
    // Nothing after it is one.
    #expect(try list("<dict><key>a</key><dict/><key>b</key><dict/></dict>", root: "a").records.count == 1)
    #expect(try list("<dict><key>a</key><thing/></dict>").error != nil)
  }

  @Test("an element that isn't a dictionary is a record with a problem")
  func notADictionary() throws {
    let result = try list("<array><integer>1</integer><dict><key>a</key><true/></dict><array/></array>")
    #expect(result.problems == [.notAnObject(found: "a number"), nil, .notAnObject(found: "an array")])
  }

  static let brokenLists: [(String, Int64)] = [
    ("<array><dict><key>a</key></dict></array>", 14), ("<array><dict><string>a</string><true/></dict></array>", 14),
    ("<array><dict><key>a</key><thing/></dict></array>", 26), ("<array><thing/></array>", 8), ("<thing/>", 1),
    ("<array><dict><key>a</key><array><thing/></array></dict></array>", 33),
  ]

  @Test("what isn't a property list is refused at the first mistake", arguments: brokenLists)
  func broken(text: String, column: Int64) throws {
    let result = try read("<plist>\n" + text + "</plist>", as: "a.plist")
    #expect(result.error == .malformed(line: 2, column: column, what: XMLMistake.notPropertyList.description))
    #expect(result.records.isEmpty)
  }

  @Test("a list that Foundation writes is read unchanged")
  func foundation() throws {
    let objects: [[String: Any]] = (0..<50).map {
      ["id": $0, "name": "n<\($0)>&é", "half": Double($0) / 2, "on": $0 % 2 == 0]
    }
    let data = try PropertyListSerialization.data(fromPropertyList: ["rows": objects], format: .xml, options: 0)
    for blockSize in [1, 7, 4_096] {
      let result = try SourceFile(Array(data), name: "a.xml").read(
        ReaderOptions(root: "rows"), limit: 7, blockSize: blockSize)
      #expect(result.error == nil)
      #expect(result.records.map { $0.named["id"] } == (0..<50).map { "\($0)" })
      #expect(result.records.map { $0.named["name"] } == (0..<50).map { "n<\($0)>&é" })
      #expect(result.records.map { $0.named["on"] } == (0..<50).map { $0 % 2 == 0 ? "<yes>" : "<no>" })
    }
  }
}
