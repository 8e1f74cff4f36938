import LadeTypes
import StrictYAML
import Testing

@Suite("Values as YAML")
struct YAMLTextTests {
  /// The values that a text says under some keys.
  private func read(_ text: String, under keys: [String] = []) throws -> [String: OptionValue] {
    var node = try YAMLDocument(parsing: Array(text.utf8), limits: .untrusted(bytes: 1 << 20)).root
    for key in keys {
      let entries = try node.entries(of: "a mapping")
      #expect(entries.map(\.name) == [key])
      node = try #require(entries.first).value
    }
    return try node.options()
  }

  private static let texts = [
    "", " ", "plain", "two words", " lead", "trail ", "true", "True", "TRUE", "false", "yes", "No", "on", "off", "y",
    "n",
    "null", "Null", "~", "-", "--", "---", "...", "?", ":", "a: b", "a:b", "key:", "# no comment", "a # b", "a#b",
    "- item",
    "[a, b]", "{a: b}", "&anchor", "*alias", "!tag", "!!str x", "|", ">", "%YAML 1.2", "@at", "`tick`", "'single'",
    "\"double\"", "it's", "back\\slash", "\\n", "0", "1", "-1", "+1", "007", "0x1F", "0o17", "1_000", "1e3", "1.0",
    ".5",
    "1.", "12:30", "2026-01-01", "NaN", "nan", "inf", "-inf", "Infinity", "infinity", ".nan", ".inf", "<<", "=",
    "two\nlines",
    "\nfirst", "last\n", "\n", "\n\n", "a\r\nb", "\r", "tab\tinside", "\t", "\u{7F}", "\u{1}", "\u{85}", "\u{2028}",
    "in\u{FEFF}side", "\u{202E}evil", "Größe", "漢字", "👩‍🚀", "e\u{301}", "a, b", ",", "line one: x\n  - y\n# z\n",
    String(repeating: "long ", count: 400),
  ]

  @Test("every text comes back as the same text, as a value, in a list and as a key", arguments: texts)
  func everyText(_ text: String) throws {
    let values: [(key: String, value: OptionValue)] = [
      ("value", .string(text)), ("list", .list([.string(text), .string("b"), .string(text)])),
      ("map", .map(["inner": .string(text), "deeper": .map(["x": .string(text)])])),
    ]
    let read = try read(YAMLText.of(values))
    #expect(read == Dictionary(uniqueKeysWithValues: values.map { ($0.key, $0.value) }))
    // A key is a name of the user's, too: that of a column or of a value.
    let keyed = try self.read(YAMLText.of([("map", .map([text: .string("x"), "other": .int(1)]))]))
    #expect(keyed == ["map": .map([text: .string("x"), "other": .int(1)])])
  }

  @Test("numbers and truth values come back as such, with every digit")
  func scalars() throws {
    let values: [(key: String, value: OptionValue)] = [
      ("a", .int(0)), ("b", .int(.max)), ("c", .int(.min)), ("d", .double(0.1)), ("e", .double(-1.5e-300)),
      ("f", .double(9_007_199_254_740_992)), ("g", .bool(true)), ("h", .bool(false)), ("i", .double(1e22)),
    ]
    let read = try read(YAMLText.of(values))
    #expect(read == Dictionary(uniqueKeysWithValues: values.map { ($0.key, $0.value) }))
  }

  @Test("empty lists and maps are kept, and keys lead to the mapping in their order")
  func shapes() throws {
    let text = try YAMLText.of(
      [("z", .list([])), ("a", .map([:])), ("m", .list([.map(["x": .int(1)]), .list([.string("y")])]))],
      under: ["recipes", "my recipe: 1"])
    #expect(
      try read(text, under: ["recipes", "my recipe: 1"]) == [
        "z": .list([]), "a": .map([:]), "m": .list([.map(["x": .int(1)]), .list([.string("y")])]),
      ])
    let places = ["z:", "a:", "m:"].compactMap { text.firstRange(of: $0)?.lowerBound }
    #expect(places.count == 3 && places == places.sorted(), "the order is that given: \(text)")
  }
}
