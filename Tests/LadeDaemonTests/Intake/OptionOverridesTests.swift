import ControlAPI
import Importing
import Testing

@testable import LadeDaemon

@Suite("Options of a ticket or submission")
struct OptionOverridesTests {
  private func applied(
    _ options: [String: OptionValue], to recipe: ImportOptions = ImportOptions()
  ) throws -> ImportOptions {
    var target = recipe
    try OptionOverrides(options).apply(to: &target)
    return target
  }

  private func problem(
    _ options: [String: OptionValue], of recipe: ImportOptions = ImportOptions()
  ) throws -> SubmissionProblem {
    try #require(throws: SubmissionProblem.self) { _ = try applied(options, to: recipe) }
  }

  @Test(
    "no filter of theirs has a regular expression, however it is written",
    arguments: [
      "name MATCHES '(a+)+$'", "name matches[c] 'x'", "NOT (age > 1 AND name MATCHES 'x')",
      // Case that only some letters have.
      "name matche\u{17F} 'x'",
      // A quote with a mark on it is a quote to the parser.
      "name == '\u{301}' OR name MATCHES '(a+)+$' OR name == 'x'", "name == 'it\\'s' OR name MATCHES 'x'",
      "TERNARY(name MATCHES 'x', 1, 0) == 1", "name == \"'\" OR name MATCHES \"x\"",
    ])
  func regularExpressions(_ filter: String) throws {
    let problem = try problem(["filter": .string(filter)])
    #expect(problem.field == "options.filter" && problem.reason.contains("MATCHES"), "\(problem)")
  }

  @Test(
    "a filter may speak of matches in any other way",
    arguments: [
      "name == 'no MATCHES'", "name == 'it\\'s a MATCHES'", "#matches > 1", "name LIKE '*matches*'",
    ])
  func words(_ filter: String) throws {
    #expect(try applied(["filter": .string(filter)]).mapping.filter == filter)
  }

  @Test("a recipe's own filter stays as the operator wrote it, with other options beside it")
  func recipesFilter() throws {
    var recipe = ImportOptions()
    recipe.mapping.filter = "name MATCHES 'a+'"
    #expect(try applied(["trim": .bool(true)], to: recipe).mapping.filter == recipe.mapping.filter)
  }

  @Test("a filter that is no predicate is reported with its column, whatever the entity")
  func malformed() throws {
    let problem = try problem(["filter": .string("age >")])
    #expect(problem.field == "options.filter" && problem.reason.contains("column 6"), "\(problem)")
  }

  @Test("a batch may be smaller than usual, or than the recipe's, and not larger")
  func batchSize() throws {
    #expect(try applied(["batch_size": .int(1)]).batchSize == 1)
    #expect(try applied(["batch_size": .int(10_000)]).batchSize == 10_000)
    #expect(try problem(["batch_size": .int(10_001)]).field == "options.batch_size")
    var recipe = ImportOptions()
    recipe.batchSize = 50_000
    #expect(try applied(["batch_size": .int(40_000)], to: recipe).batchSize == 40_000)
    #expect(try problem(["batch_size": .int(50_001)], of: recipe).reason.contains("50000"))
    recipe.batchSize = 100
    #expect(try applied(["batch_size": .int(5_000)], to: recipe).batchSize == 5_000)
  }

  @Test(
    "what bounds a file's cost is the operator's to say", arguments: ["maximum_expansion", "maximum_unpacked_bytes"])
  func operators(_ name: String) throws {
    #expect(try problem([name: .int(5)]).reason.contains("only a recipe"))
  }

  @Test("one that isn't known is answered with what was probably meant")
  func unknown() throws {
    #expect(try problem(["delimeter": .string(";")]).advice == "Did you mean delimiter?")
    #expect(try problem(["mode": .string("insert")]).advice.contains("beside"))
    #expect(try problem(["zzzzzzzzzzzz": .int(1)]).advice.hasPrefix("There are atomic, "))
    #expect(try problem([String(repeating: "z", count: 60_000): .int(1)]).reason.utf8.count < 200)
  }

  @Test("one goes in place of the recipe's that it can't be together with")
  func inPlace() throws {
    var recipe = ImportOptions()
    recipe.reader.table = "people"
    let queried = try applied(["query": .string("SELECT 1")], to: recipe).reader
    #expect(queried.query == "SELECT 1" && queried.table == nil)
    #expect(try applied(["table": .string("t")], to: applied(["query": .string("SELECT 1")])).reader.query == nil)
    #expect(try problem(["table": .string("t"), "query": .string("SELECT 1")]).reason.contains("give one of them"))

    var rule = PropertyRule()
    rule.constant = "x"
    recipe.mapping.properties = ["name": rule]
    let column = try applied(["properties": .map(["name": .map(["column": .string("n")])])], to: recipe)
    #expect(column.mapping.properties["name"]?.column == "n" && column.mapping.properties["name"]?.constant == nil)
    let short = try applied(["properties": .map(["name": .string("n")])], to: recipe)
    #expect(short.mapping.properties["name"]?.column == "n" && short.mapping.properties["name"]?.constant == nil)
    let constant = try applied(["properties": .map(["name": .map(["constant": .string("y")])])], to: column)
    #expect(constant.mapping.properties["name"]?.constant == "y" && constant.mapping.properties["name"]?.column == nil)
    let both: OptionValue = .map(["name": .map(["constant": .string("y"), "column": .string("n")])])
    #expect(try problem(["properties": both]).reason.contains("constant"))
  }

  @Test("columns of fixed width may be a list, or one text with commas")
  func fields() throws {
    let list = try applied(["fields": .list([.string("id:5"), .string("name:8-27")])])
    #expect(try applied(["fields": .string("id:5,name:8-27")]) == list)
    #expect(list.reader.fixedWidth?.columns.map(\.name) == ["id", "name"])
    #expect(try problem(["fields": .string("id:5,name")]).field == "options.fields[2]")
  }

  @Test("what has no use is refused rather than passed over")
  func useless() throws {
    for name in ["encoding", "fallback_encoding", "columns", "member"] {
      let value: OptionValue = name == "columns" ? .list([.string("a")]) : .string("latin1")
      #expect(try problem(["format": .string("sqlite"), name: value]).field == "options.\(name)", "\(name)")
    }
    var recipe = ImportOptions()
    recipe.mode = .upsert
    #expect(try problem(["allow_empty": .bool(true)], of: recipe).reason.contains("only replace and synchronise"))
    recipe.mode = .replace
    #expect(try applied(["allow_empty": .bool(true)], to: recipe).allowsEmpty)
  }
}
