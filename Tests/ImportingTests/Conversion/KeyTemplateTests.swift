import Testing

@testable import Importing

@Suite("Keys put together from columns")
struct KeyTemplateTests {
  func render(_ template: String, _ record: [String: String]) throws -> String? {
    try KeyTemplate(template).render { record[$0] }
  }

  @Test("columns and what expressions find in them stand between literals")
  func renders() throws {
    let template = try KeyTemplate("{code|^([A-Z]{2})}-{parent}/{code}")
    #expect(template.columns == ["code", "parent"])
    #expect(template.render { ["code": "DE-BY", "parent": "09"][$0] } == "DE-09/DE-BY")
    #expect(try render("{a}{b}", ["a": "1", "b": "2"]) == "12")
    #expect(try render("x {a b} y", ["a b": "ü"]) == "x ü y")
    #expect(try render("{a|(\\{.\\})}", ["a": "--{x}"]) == "{x}")
    #expect(try render("{a|(x|y)}", ["a": "zy"]) == "y")
    #expect(try render("{a|.(.)}", ["a": "🐟é"]) == "é")
  }

  @Test("a part that is missing, empty or doesn't match leaves no key")
  func noKey() throws {
    #expect(try render("{a}-{b}", ["a": "1"]) == nil)
    #expect(try render("{a}-{b}", ["a": "1", "b": ""]) == nil)
    #expect(try render("{a|^(x)}", ["a": "yx"]) == nil)
    #expect(try render("{a|x(y)?}", ["a": "x"]) == nil)
    #expect(try render("{a|x(y*)}", ["a": "x"]) == nil)
  }

  @Test("templates that can't be meant are refused")
  func refused() throws {
    #expect(throws: KeyTemplateError.unbalancedBrace(template: "a{b", position: 2)) { try KeyTemplate("a{b") }
    #expect(throws: KeyTemplateError.unbalancedBrace(template: "{a}b}", position: 5)) { try KeyTemplate("{a}b}") }
    #expect(throws: KeyTemplateError.unbalancedBrace(template: "{a\\", position: 1)) { try KeyTemplate("{a\\") }
    #expect(throws: KeyTemplateError.noName(template: "{}")) { try KeyTemplate("{}") }
    #expect(throws: KeyTemplateError.noName(template: "{|(x)}")) { try KeyTemplate("{|(x)}") }
    #expect(throws: KeyTemplateError.noColumn(template: "abc")) { try KeyTemplate("abc") }
    #expect(throws: KeyTemplateError.noColumn(template: "")) { try KeyTemplate("") }
    #expect(throws: KeyTemplateError.noGroup(template: "{a|x}", expression: "x")) { try KeyTemplate("{a|x}") }
    #expect(throws: KeyTemplateError.badExpression(template: "{a|(}", expression: "(")) { try KeyTemplate("{a|(}") }
  }
}
