import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("A mask")
struct MaskRuleTests {
  @Test(
    "is read as it is written",
    arguments: [
      ("redact", ValueMask.redact), ("keep_last(4)", .keepLast(4)), ("truncate(3)", .truncate(3)),
      ("hmac(sha256, pii-key)", .hmac(credential: "pii-key")),
    ])
  func forms(text: String, mask: ValueMask) throws {
    #expect(ValueMask(text) == mask)
    #expect(mask.description == text)
    #expect(try JSONDecoder().decode(ValueMask.self, from: JSONEncoder().encode(mask)) == mask)
  }

  @Test(
    "is refused in any other form",
    arguments: [
      "", "hash", "redact(1)", "keep_last", "keep_last(0)", "keep_last(x)", "keep_last(1,2)", "truncate(1001)",
      "hmac(sha256)", "hmac(md5, pii)", "hmac(sha256, ../pii)", "hmac(sha256, )", "hmac(sha256, .)",
    ])
  func others(text: String) { #expect(ValueMask(text) == nil) }

  private func masked(_ text: String, _ mask: ValueMask) throws -> String {
    let cell = try CellMask(mask, isText: true, MaskKeys(MaskCredentials(folder: nil)))
    guard case .text(let bytes) = Array(text.utf8).withUnsafeBytes({ cell.masked($0) }) else { return "?" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(
    "of a text leaves no more than it says, and is the same again when it is masked again",
    arguments: [
      ("4111111111111111", ValueMask.keepLast(4), "****1111"), ("1234", .keepLast(4), "****"), ("", .keepLast(4), ""),
      ("12345", .keepLast(4), "****2345"), ("12", .keepLast(1), "****2"),
      ("e\u{301}e\u{301}", .keepLast(1), "****\u{301}"),
      ("Lovelace", .truncate(3), "Lov"), ("Lo", .truncate(3), "Lo"), ("Ünï", .truncate(2), "Ün"),
      ("x", .redact, "****"),
      ("", .redact, ""),
    ])
  func idempotent(text: String, mask: ValueMask, result: String) throws {
    let once = try masked(text, mask)
    #expect(Array(once.utf8) == Array(result.utf8))
    #expect(Array(try masked(once, mask).utf8) == Array(once.utf8))
  }

  private func problem(_ rules: [String: PropertyRule], _ model: ManagedObjectModel? = nil, key: [String] = []) throws
    -> String
  {
    var options = MappingOptions()
    options.properties = rules
    options.key = key
    let entity = try #require(try (model ?? MaskModel.model.get()).entitiesByName["Client"])
    do throws(MappingError) {
      try options.check(against: entity)
      return ""
    } catch {
      return "\(error)"
    }
  }

  private func rule(_ mask: ValueMask, _ change: (inout PropertyRule) -> Void = { _ in }) -> PropertyRule {
    var rule = PropertyRule()
    rule.mask = mask
    change(&rule)
    return rule
  }

  @Test("that can't be followed is refused with what to do")
  func refusals() throws {
    #expect(try problem(["age": rule(.keepLast(1))]).contains("age is Integer 16: use redact"))
    #expect(
      try problem(["email": rule(.truncate(3))]).contains("email identifies objects, and different texts have the same")
    )
    #expect(try problem(["phone": rule(.redact) { $0.constant = "x" }]).contains("both a mask and a constant"))
    for (mask, null) in [(ValueMask.redact, "****"), (.keepLast(2), "****NA"), (.truncate(2), "NA")] {
      #expect(try problem(["phone": rule(mask) { $0.nulls = ["?", null] }]).contains("can make “\(null)” of a text"))
      #expect(try problem(["phone": rule(mask) { $0.nulls = ["?"] }]) == "")
    }
    #expect(try problem(["phone": rule(.redact) { $0.values = ["a": "b"] }]).contains("both a mask and values"))
    #expect(try problem(["sponsor": rule(.redact)]).contains("sponsor's mask can only be hmac(sha256, NAME)"))
    #expect(
      try problem(["phone": rule(.redact) { $0.column = "name" }]).contains(
        "phone and name take the column name, and only one mask can hold for it"))
    #expect(try problem(["phone": rule(.keepLast(4))], key: ["phone"]).contains("phone identifies objects"))
    let model = try MaskModel.make(["name": "hash"])
    #expect(try problem([:], model).contains("the model's mask of name, “hash”, isn't one"))
    #expect(
      try problem(["name": rule(.truncate(1))], MaskModel.make(["name": "redact"])).contains(
        "name has the mask truncate(1), and redact in the model: leave the recipe's out"))
    #expect(try problem(MaskRoom.rules) == "")
  }
}
