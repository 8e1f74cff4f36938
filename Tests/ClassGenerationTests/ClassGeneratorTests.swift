import ClassGeneration
import Foundation
import TestSupport
import Testing

@Suite("Generated classes and warnings")
struct ClassGeneratorTests {
  private func generate(
    _ body: String, name: String = "Shop", module: String? = "App"
  ) throws -> (source: String, warnings: [String]) {
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><model>\n\(body)\n</model>"
    var generator = try ClassGenerator(xml: xml, name: name, fileName: "\(name).xcdatamodeld", module: module)
    let source = generator.source()
    return (source, generator.warnings)
  }

  @Test("an entity without code generation gets none, and the model knows its class")
  func none() throws {
    let (source, warnings) = try generate("<entity name=\"Order\" representedClassName=\"OrderMO\"/>")
    #expect(!source.contains("class OrderMO") && !source.contains("extension OrderMO"))
    #expect(source.contains("\"Order\": OrderMO.self") && source.contains("enum ShopModel"))
    #expect(warnings.isEmpty)
  }

  @Test("entities that have no class because none was chosen are named")
  func silent() throws {
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?><model>
      <entity name="Order" codeGenerationType="class"/><entity name="City"/>
      <entity name="Rate" representedClassName="Rate"/><entity name="Tax" codeGenerationType="none"/>
      </model>
      """
    let folder = try ScratchDirectory()
    let model = folder.file("Shop.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    try xml.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    let messages = try GeneratedSource(of: model, module: "Shop").messages
    #expect(messages.count == 1)
    #expect(messages.first?.contains("contents:1: note: no class is generated for City, Rate, ") == true, "\(messages)")
  }

  @Test("the class's name is the entity's where the model gives none, and keeps to the module it names")
  func classNames() throws {
    let (source, warnings) = try generate(
      """
      <entity name="Order" codeGenerationType="class"/>
      <entity name="Line" representedClassName="App.OrderLine" codeGenerationType="class"/>
      <entity name="Rate" representedClassName="Money.Rate" codeGenerationType="class"/>
      <entity name="Tax" representedClassName="Money.Tax" codeGenerationType="category"/>
      """)
    #expect(source.contains("public class Order: ManagedObject {"))
    #expect(source.contains("public class OrderLine: ManagedObject {"))
    #expect(!source.contains("class Money.Rate") && source.contains("extension Money.Tax {"))
    #expect(source.contains("public import Money"))
    #expect(warnings.count == 1 && warnings[0].contains("Rate's class Money.Rate belongs to another module than App"))
  }

  @Test("a class inherits from the next class above, past entities that have none")
  func inheritance() throws {
    let (source, _) = try generate(
      """
      <entity name="A" representedClassName="A" codeGenerationType="class"/>
      <entity name="B" parentEntity="A" representedClassName="NSManagedObject"/>
      <entity name="C" parentEntity="B" representedClassName="C" codeGenerationType="class"/>
      """)
    #expect(source.contains("public class C: A {"))
  }

  @Test("a name that ManagedObject has already, or that is none in Swift, is warned of with what to do")
  func reserved() throws {
    let (source, warnings) = try generate(
      """
      <entity name="Order" codeGenerationType="class">
        <attribute name="description" attributeType="String"/>
        <attribute name="isDeleted" attributeType="Boolean"/>
        <attribute name="unit price" attributeType="Decimal"/>
        <attribute name="repeat" attributeType="String"/>
      </entity>
      """)
    #expect(
      warnings.map { $0.prefix { $0 != " " } } == ["Order.description", "Order.isDeleted", "Order.unit"])
    #expect(warnings[0].contains("rename it") && warnings[0].contains("value(forKey: \"description\")"))
    #expect(!source.contains("var description") && source.contains("var `repeat`: String?"))
    #expect(source.contains("[\"description\", \"isDeleted\", \"unit price\", \"repeat\"]"))
  }

  @Test("the user info gives an accessor another type, value for nil, name and comment")
  func accessors() throws {
    func info(_ pairs: KeyValuePairs<String, String>) -> String {
      "<userInfo>" + pairs.map { "<entry key=\"\($0.key)\" value='\($0.value)'/>" }.joined() + "</userInfo>"
    }
    let (source, warnings) = try generate(
      """
      <entity name="Order" codeGenerationType="class">
        <attribute name="state" attributeType="String">\(info(["accessorType": "OrderState"]))</attribute>
        <attribute name="kind" attributeType="String">\(info(["accessorDefault": "\"\""]))</attribute>
        <attribute name="rule" attributeType="String">
          \(info(["accessorType": "Rule", "accessorDefault": ".all", "documentation": "Which apply."]))
        </attribute>
        <attribute name="count" attributeType="Integer 32" usesScalarValueType="YES">
          \(info(["accessorType": "Int"]))
        </attribute>
        <attribute name="description" attributeType="String">\(info(["accessorName": "text"]))</attribute>
        <attribute name="extra" attributeType="Transformable" customClassName="Extra">
          \(info(["accessorDefault": "Extra()"]))
        </attribute>
      </entity>
      """)
    #expect(source.contains("var state: OrderState? {\n    get { self[0] }"))
    #expect(source.contains("var kind: String {\n    get { self[1] ?? \"\" }"))
    #expect(source.contains("  /// Which apply.\n  public var rule: Rule {\n    get { self[2] ?? .all }"))
    #expect(source.contains("var count: Int {\n    get { self[3] ?? 0 }"))
    #expect(source.contains("var text: String? {\n    get { self[4] }") && !source.contains("var description"))
    #expect(source.contains("var extra: Extra? {"))
    #expect(warnings.count == 1 && warnings[0].contains("Order.extra"))
  }

  @Test("the queue's classes are those of its model; `make classes` writes them")
  func queue() throws {
    let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("../../Sources/Jobs/Model").standardizedFileURL
    let generated = try GeneratedSource(of: folder.appendingPathComponent("Queue.xcdatamodel"), module: "Jobs")
    #expect(generated.messages.isEmpty)
    let classes = folder.appendingPathComponent("Generated")
    let names = try FileManager.default.contentsOfDirectory(atPath: classes.path).sorted()
    #expect(generated.files.map(\.name).sorted() == names)
    for file in generated.files {
      let written = try String(contentsOf: classes.appendingPathComponent(file.name), encoding: .utf8)
      #expect(file.source == written, "the model has changed: run `make classes`")
    }
  }

  @Test("in several files each entity's accessors, the composite types and the model are what they are in one")
  func files() throws {
    let model = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("../../Sources/Jobs/Model/Queue.xcdatamodel").standardizedFileURL
    let generated = try GeneratedSource(of: model, module: "Jobs")
    let (_, body) = Self.split(generated.whole)
    #expect(generated.files.map { Self.split($0.source).body }.joined(separator: "\n") == body)
    #expect(generated.files.allSatisfy { $0.source.contains("package import ManagedObjects\n") })
    #expect(generated.files.allSatisfy { $0.source.contains("import Foundation") == $0.source.contains("Foundation.") })
    #expect(generated.files.allSatisfy { $0.source.split(separator: "\n").count < 600 })
  }

  /// What stands before the first declaration, and the rest.
  private static func split(_ source: String) -> (head: String, body: String) {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let end = (lines.lastIndex { $0.hasPrefix("package import ") } ?? 0) + 2
    return (lines[..<end].joined(separator: "\n"), lines[end...].joined(separator: "\n"))
  }

  @Test("a transformable attribute without a class gives data, and is warned of")
  func transformable() throws {
    let (source, warnings) = try generate(
      """
      <entity name="Order" codeGenerationType="class"><attribute name="extra" attributeType="Transformable"/></entity>
      """)
    #expect(source.contains("var extra: Foundation.Data?"))
    #expect(warnings.count == 1 && warnings[0].contains("Order.extra"))
  }

  @Test("a property can't be seen further than the class it leads to", arguments: ["internal", "package"])
  func access(level: String) throws {
    let (source, _) = try generate(
      """
      <entity name="Order" codeGenerationType="class">
        <relationship name="line" optional="YES" destinationEntity="Line"/>
      </entity>
      <entity name="Line" codeGenerationType="class">
        <userInfo><entry key="accessLevel" value="\(level)"/></userInfo>
      </entity>
      """)
    let prefix = level == "internal" ? "" : level + " "
    #expect(
      source.contains("\n\(prefix)class Line: ManagedObject {") && source.contains("\n  \(prefix)var line: Line?"))
    #expect(source.contains("public class Order"))
  }

  @Test("what can't be is warned of: unknown settings, a class of the base's name, two methods of one name")
  func oddities() throws {
    let (_, warnings) = try generate(
      """
      <entity name="A" codeGenerationType="full"/>
      <entity name="B" codeGenerationType="class"><userInfo><entry key="accessLevel" value="open"/></userInfo></entity>
      <entity name="C" representedClassName="ManagedObject" codeGenerationType="class"/>
      <entity name="D" representedClassName="D-D" codeGenerationType="class"/>
      <entity name="E" codeGenerationType="class" novelty="YES">
        <relationship name="items" optional="YES" toMany="YES" destinationEntity="A"/>
        <relationship name="Items" optional="YES" toMany="YES" destinationEntity="A"/>
      </entity>
      """)
    #expect(warnings.count == 6)
    for word in ["codeGenerationType", "accessLevel", "ManagedObject", "D-D", "novelty", "addToItems"] {
      #expect(warnings.contains { $0.contains(word) })
    }
  }

  @Test("the model's text stands in the source as it is, whatever is in it")
  func embedded() throws {
    let (source, _) = try generate(
      "<entity name=\"A\"><userInfo><entry key=\"k\" value='\"\"\"# \\#(x) \\(y)'/></userInfo></entity>",
      name: "2 odd.name")
    #expect(source.contains("enum _2OddNameModel") && source.contains("##\"\"\"\n<?xml"))
  }

  @Test("every property of ManagedObject itself is among the names that are warned of")
  func reservedNamesAreComplete() throws {
    let sources = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("../../Sources/ManagedObjects").standardizedFileURL
    let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var missing: [String] = []
    for case let file as URL in files where file.pathExtension == "swift" {
      var isInside = false
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if line.hasPrefix("}") { isInside = false }
        if line.hasPrefix("extension ManagedObject {") || line.hasPrefix("extension ManagedObject:")
          || line.hasPrefix("open class ManagedObject")
        {
          isInside = true
        }
        guard isInside, let match = line.firstMatch(of: /^  (?:public|open) (?:final |class |static )*var (\w+)/) else {
          continue
        }
        let name = String(match.1)
        let (_, warnings) = try generate(
          "<entity name=\"A\" codeGenerationType=\"class\"><attribute name=\"\(name)\" attributeType=\"String\"/></entity>"
        )
        if warnings.isEmpty { missing.append(name) }
      }
    }
    #expect(missing.isEmpty, "these have to be added to ReservedNames")
  }
}
