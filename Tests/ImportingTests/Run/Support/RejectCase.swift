import Foundation

@testable import Importing

/// Four people in every form that rejects can have, two of them with an age that is none, and what else can be wrong.
enum RejectCase: String, CaseIterable, Sendable {
  case csv, csvHeadless, csvRenamed, csvSkipping, tsvEscapes, json, jsonRoot, jsonMembers, ndjson, xml, xmlPath, plist,
    plistRoot
  case fixedWidth, fixedWidthSkipping, zipMember, latin

  var name: String {
    switch self {
    case .csv, .csvHeadless, .csvRenamed, .csvSkipping, .latin: "a.csv"
    case .tsvEscapes: "a.tsv"
    case .json, .jsonRoot, .jsonMembers: "a.json"
    case .ndjson: "a.ndjson"
    case .xml, .xmlPath: "a.xml"
    case .plist, .plistRoot: "a.plist"
    case .fixedWidth, .fixedWidthSkipping: "a.txt"
    case .zipMember: "a.zip"
    }
  }

  var options: ReaderOptions {
    var options = ReaderOptions()
    switch self {
    case .csv, .json, .ndjson, .plist: break
    case .csvHeadless: (options.header, options.columns) = (false, ["code", "name", "age"])
    case .csvRenamed: options.columns = ["code", "name", "age"]
    case .csvSkipping: options.skipLines = 2
    case .tsvEscapes: options.tsvEscapes = true
    case .jsonRoot, .plistRoot: options.root = "a.b \"<"
    case .jsonMembers: (options.root, options.keyColumn) = ("a", "code")
    case .xml: options.record = "person"
    case .xmlPath: options.record = "all/people/person"
    case .fixedWidth, .fixedWidthSkipping:
      options.format = .fixedWidth
      options.fixedWidth = FixedWidthLayout(
        columns: [.init("code", width: 2), .init("name", width: 6), .init("age", width: 3)])
      if self == .fixedWidthSkipping { (options.skipLines, options.comment) = (1, "//") }
    case .zipMember: options.member = "folder/a.json"
    case .latin: options.encoding = .windows1252
    }
    return options
  }

  /// Records that can't be corrected as they stand in the reject file.
  var broken: Int {
    switch self {
    case .json, .jsonRoot, .jsonMembers, .zipMember, .plist, .plistRoot, .fixedWidth: 1
    case .ndjson, .csv: 2
    default: 0
    }
  }

  /// The content of the file, as text. The ages `zzq` and `zzr` are there to be corrected.
  var text: String {
    let rows = [("a", "Ann", "1"), ("b", "Zoë<&", "zzq"), ("c", "Cleo", "3"), ("d", "D\"a'n", "zzr")]
    switch self {
    case .csv, .latin, .csvRenamed, .csvSkipping, .csvHeadless:
      let header = self == .csvHeadless ? "" : self == .csvRenamed ? "x,y,z\n" : "code,name,age\n"
      let records = rows.map { "\($0.0),\"\($0.1.replacing("\"", with: "\"\""))\",\($0.2)\n" }.joined()
      return (self == .csvSkipping ? "some\n\"title\n" : "") + header + records
        + (self == .csv ? "e,f\ng,\"h\"i,3\n" : "")
    case .tsvEscapes: return "code\tname\tage\n" + rows.map { "\($0.0)\t\($0.1)\\n\t\($0.2)\n" }.joined()
    case .json, .jsonRoot, .ndjson, .zipMember:
      let objects = rows.map {
        "{\"code\":\"\($0.0)\",\"name\":\"\($0.1.replacing("\"", with: "\\\""))\", \"age\":\"\($0.2)\"}"
      }
      if self == .ndjson { return objects.joined(separator: "\n") + "\n[1]\n{\"code\":\n" }
      let array = "[" + objects.joined(separator: ",\n ") + ", 7]"
      return self == .jsonRoot ? "{\"x\":[{}],\"a\":{\"b \\\"<\":\(array)},\"y\":1}" : array
    case .jsonMembers:
      let members = rows.map {
        "\"\($0.0)\": {\"name\":\"\($0.1.replacing("\"", with: "\\\""))\", \"age\":\"\($0.2)\"}"
      }
      return "{\"x\":1,\"a\":{" + members.joined(separator: ",\n ") + ", \"e\": 7}}"
    case .xml, .xmlPath:
      let people = rows.map {
        "<person id='1'><code>\($0.0)</code>\n<name><![CDATA[\($0.1)]]></name><age>\($0.2)</age></person>"
      }.joined()
      return "<all><people>\(people)</people><other/></all>"
    case .plist, .plistRoot:
      let people = rows.map {
        "<dict><key>code</key><string>\($0.0)</string><key>name</key><string>\(XMLText.escaped($0.1))</string>"
          + "<key>age</key><string>\($0.2)</string></dict>\n"
      }.joined()
      let array = "<array>\(people)<string>&lt;</string></array>"
      let list = self == .plistRoot ? "<dict><key>a</key><dict><key>b \"&lt;</key>\(array)</dict></dict>" : array
      return "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\(list)</plist>"
    case .fixedWidth, .fixedWidthSkipping:
      let lines = rows.map { row in
        row.0.padding(toLength: 2, withPad: " ", startingAt: 0)
          + row.1.padding(toLength: 6, withPad: " ", startingAt: 0)
          + row.2.padding(toLength: 3, withPad: " ", startingAt: 0) + "\n"
      }.joined()
      return self == .fixedWidth ? lines + "e short\n" : "a title\n// a comment\n" + lines
    }
  }

  /// The file's bytes.
  func bytes() throws -> [UInt8] {
    switch self {
    case .zipMember: try PackedCase.zipSecond.pack(text, as: "a.json")
    case .latin: Array(text.unicodeScalars.map { UInt8($0.value) })
    default: Array(text.utf8)
    }
  }

  /// The name under which the reject file is dropped again.
  var rejectsName: String { RejectFileName.name(job: "1", source: name, options) }
}
