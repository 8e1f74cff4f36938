import Foundation
import LadeTypes
import StrictYAML
import Testing

@testable import Spool

@Suite("A ticket")
struct TicketTests {
  private func parse(_ text: String) throws -> Ticket { try Ticket(parsing: Array(text.utf8)) }

  private func error(_ text: String) -> TicketError? {
    do throws(TicketError) {
      _ = try Ticket(parsing: Array(text.utf8))
      return nil
    } catch {
      return error
    }
  }

  /// What is wrong in the text, and where.
  private func wrong(_ text: String) -> YAMLError? {
    guard case .wrong(let found) = error(text) else { return nil }
    return found
  }

  @Test("is read with every key it may have")
  func everyKey() throws {
    let ticket = try parse(
      """
      # a comment with an & and a *
      kind: import
      store: shop
      entity: Customer
      source: customers.csv
      mode: upsert
      lane: import
      priority: -10
      not_before: 2026-03-01T04:00:00+01:00
      unique_key: "2026"
      max_attempts: 3
      options: {delimiter: ";", header: true, skip: 2, country: NO, at: 12:30, null_values: ["", NULL, 0],
        deep: {born: {format: dd, n: 1}, list: [[b]]}}
      """)
    #expect(ticket.submission.kind == "import")
    #expect(ticket.submission.store == "shop")
    #expect(ticket.submission.entity == "Customer")
    #expect(ticket.source == .beside("customers.csv"))
    #expect(ticket.submission.mode == .upsert)
    #expect(ticket.submission.lane == "import")
    #expect(ticket.submission.priority == -10)
    #expect(ticket.submission.notBefore == Date(timeIntervalSince1970: 1_772_334_000))
    #expect(ticket.submission.uniqueKey == "2026")
    #expect(ticket.submission.maxAttempts == 3)
    #expect(
      ticket.submission.options == [
        "delimiter": .string(";"), "header": .bool(true), "skip": .int(2), "country": .string("NO"),
        "at": .string("12:30"),
        "deep": .map(["born": .map(["format": .string("dd"), "n": .int(1)]), "list": .list([.list([.string("b")])])]),
        "null_values": .list([.string(""), .string("NULL"), .string("0")]),
      ])
  }

  @Test("may say after what it runs, how long and by when, its tags, its batch, and what counts as the same")
  func conditions() throws {
    let ticket = try parse(
      """
      after: [12, {job: 13, condition: ended}]
      timeout: 2h
      deadline: 2026-03-02T00:00:00Z
      tags: [monthly, monthly, "2026"]
      batch: 7
      held: true
      unique_key: customers
      unique_period: 1d
      unique_states: [available, running]
      """)
    #expect(ticket.submission.after == [JobDependency(job: 12), JobDependency(job: 13, condition: .ended)])
    #expect(ticket.submission.timeout == 7200)
    #expect(ticket.submission.deadline == Date(timeIntervalSince1970: 1_772_409_600))
    #expect(ticket.submission.tags == ["monthly", "2026"])
    #expect(ticket.submission.batch == 7)
    #expect(ticket.submission.isHeld)
    #expect(ticket.submission.uniquePeriod == 86_400)
    #expect(ticket.submission.uniqueStates == [.available, .running])
    #expect(
      try parse("after: 5\ntimeout: 90\ntags: one\nunique_states: running\nunique_key: a\n").submission.after == [
        JobDependency(job: 5)
      ])
    let tags = (1...100).map { "t\($0)" }
    #expect(try parse("tags: \(tags + tags)").submission.tags == tags, "a tag given twice counts once")
    #expect(try parse("timeout: 1500ms").submission.timeout == 1.5)
    #expect(try parse("after: {job: 5}").submission.after == [JobDependency(job: 5)])
  }

  @Test(
    "that says those wrongly is refused with what would be right",
    arguments: [
      ("after: 0", "from 1"), ("after: [x]", "a whole number"), ("after: {condition: ended}", "a job's number"),
      ("after: {job: 1, condition: suceeded}", "did you mean `succeeded`?"),
      ("after: {job: 1, conditon: ended}", "did you mean `condition`?"), ("timeout: soon", "such as 30s"),
      ("timeout: 0", "such as 30s"), ("timeout: 5w", "such as 30s"), ("deadline: tomorrow", "2026-03-01T04"),
      ("tags: [a|b]", "no “|”"), ("tags: \(Array(1...101).map { "t\($0)" })", "at most 100 tags"),
      ("tags: [1]", "the number 1"), ("batch: -1", "from 1"),
      ("held: please", "`false`, `true`"), ("unique_key: a\nunique_states: []", "at least one state"),
      ("unique_key: a\nunique_states: [runing]", "did you mean `running`?"), ("unique_period: 1d", "there is none"),
    ])
  func wrongConditions(text: String, says: String) {
    let found = error(text)?.description ?? "it was read"
    #expect(found.contains(says), "\(found)")
  }

  @Test("may be JSON, and leaves unsaid what it doesn't say")
  func json() throws {
    let ticket = try parse(#"{"store": "shop", "entity": "Customer", "source": "a b.csv", "options": {}}"#)
    #expect(ticket.submission.kind == "import")
    #expect(ticket.source == .beside("a b.csv"))
    #expect(ticket.submission.priority == nil)
    #expect(ticket.submission.mode == nil)
    #expect(ticket.submission.notBefore == nil)
    #expect(ticket.submission.options.isEmpty)
  }

  @Test("that isn't YAML is refused with line and column")
  func notYAML() throws {
    let found = wrong("store: shop\nentity: [Customer\nsource: x\n")
    guard case .notYAML = found?.problem else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(found?.place?.line == 3)
    #expect(error("store: \u{1}\n")?.description.hasPrefix("Line 1, column 8:") == true)
  }

  @Test(
    "that is no mapping, empty, two documents or not text is refused",
    arguments: [
      ("- a\n- b\n", "mapping"), ("just words", "mapping"), ("", "empty"), ("# nothing\n", "empty"),
      ("a: 1\n---\nb: 2\n", "document"), ("store: a\nstore: b\n", "twice"),
    ])
  func shape(text: String, says: String) {
    #expect(error(text)?.description.contains(says) == true, "\(String(describing: error(text)))")
  }

  @Test("of bytes that aren't UTF-8 is refused")
  func notText() {
    #expect(throws: TicketError.notText) { try Ticket(parsing: [0x73, 0xFF, 0xFE]) }
  }

  @Test(
    "with an unknown key is refused with the nearest right word",
    arguments: [
      ("sorce: x.csv", "source"), ("Entity: X", "entity"), ("notbefore: x", "not_before"),
      ("priorty: 1", "priority"), ("max_atempts: 1", "max_attempts"), ("option: {}", "options"),
    ])
  func unknownKey(text: String, nearest: String) {
    let found = wrong("store: shop\n\(text)\n")
    guard case .unknownKey(_, let suggestion, _) = found?.problem else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(suggestion == nearest)
    #expect(found?.place == YAMLPlace(line: 2, column: 1))
    #expect(error("store: shop\n\(text)\n")?.description.contains("did you mean `\(nearest)`?") == true)
  }

  @Test("with a key like no other is answered with all there are")
  func farKey() {
    let text = error("xyzzyxyzzy: 1\n")?.description ?? ""
    #expect(text.contains("`entity`, `files`, `held`, `kind`, `lane`"))
  }

  @Test(
    "with a value of a wrong type is refused with its line",
    arguments: [
      ("priority: high", "a whole number"), ("priority: 1.5", "a whole number"), ("priority: \"5\"", "a whole number"),
      ("store: 5", "the number 5; put it in quotes"), ("store: [a]", "a list"),
      ("entity: {a: 1}", "a mapping"),
      ("entity: true", "true; put it in quotes"), ("lane:", "nothing"), ("options: 5", "a mapping of names to values"),
      ("options: {a: {b: ~}}", "a value"), ("unique_key: ~", "nothing"),
    ])
  func wrongType(text: String, says: String) {
    let found = wrong("kind: import\n\n\(text)\n")
    guard case .wrongType = found?.problem else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(found?.place?.line == 3)
    #expect(found?.problem.description.contains(says) == true, "\(String(describing: found))")
  }

  @Test(
    "with a value that can't be is refused with its line",
    arguments: [
      "mode: upsrt", "mode: overwrite", "not_before: tomorrow", "not_before: 2026-03-01T04:00:00", "max_attempts: 0",
      "priority: 99999999999", "store: \"\"", "store: \"a\\nb\"", "source: a/b.csv", "source: ../b.csv",
      "source: ..", "source: .hidden", "source: x.csv.part", "source: /srv/../etc/passwd", "source: /",
      "source: /srv/", "source: /srv/./x", "source: \"a\\0b\"", "source: \"x\\ty\"",
    ])
  func wrongValue(text: String) {
    let found = wrong("kind: import\n\(text)\n")
    #expect(found?.place?.line == 2)
    switch found?.problem {
    case .wrongValue, .unknownWord: break
    default: Issue.record("\(String(describing: found))")
    }
  }

  @Test("suggests the mode that was meant")
  func nearestMode() {
    #expect(error("mode: upsrt")?.description.contains("did you mean `upsert`?") == true)
  }

  @Test(
    "with an anchor, an alias or a tag is refused where it stands",
    arguments: [
      ("store: &a shop\n", 1), ("store: shop\noptions: {a: &x 1, b: *x}\n", 2), ("a: *nowhere\n", 1),
      ("options: &o {a: 1}\n", 1), ("store: !!binary c2hvcA==\n", 1), ("store: shop\nentity: !ruby/object:X y\n", 2),
      ("store: shop\noptions: !!set {a}\n", 2), ("store: shop\ntags: !x [a]\n", 2),
    ])
  func aliases(text: String, line: Int) {
    let found = wrong(text)
    #expect(found?.place?.line == line)
    switch found?.problem {
    case .notAllowed, .notYAML: break
    default: Issue.record("\(String(describing: found))")
    }
  }

  @Test("that would unfold to a billion nodes is refused at once", arguments: [false, true])
  func bomb(asKeys: Bool) {
    var text = "a0: &a0 [x, x]\n"
    for level in 1..<60 {
      let inner = "[*a\(level - 1), *a\(level - 1)]"
      text += asKeys ? "a\(level): &a\(level) {? \(inner) : 1}\n" : "a\(level): &a\(level) \(inner)\n"
    }
    guard case .notAllowed = wrong(text)?.problem else {
      Issue.record("it was read")
      return
    }
  }

  @Test("nested thousands deep is refused, and the daemon stands", arguments: ["[", "{a: ", "- ", "? "])
  func depth(opening: String) {
    #expect(error("options: \(String(repeating: opening, count: 60_000 / opening.count))") != nil)
    #expect(error(String(repeating: opening, count: 60_000 / opening.count)) != nil)
    #expect(error("options: \(String(repeating: opening, count: 990))") != nil)
  }

  @Test("may have asterisks and ampersands in its texts")
  func asterisks() throws {
    let ticket = try parse("store: a & b\nentity: \"*x\"\noptions: {like: '*a', and: R&D}\n")
    #expect(ticket.submission.store == "a & b")
    #expect(ticket.submission.entity == "*x")
    #expect(ticket.submission.options["like"] == .string("*a"))
  }

  @Test("has an absolute source without doubled slashes")
  func absolute() throws {
    #expect(try parse("source: /srv//exports/x.csv").source == .absolute("/srv/exports/x.csv"))
    #expect(try parse("source: /srv/exports/x.csv").source?.fileName == "x.csv")
  }

  @Test("of more than 64 KiB is refused, of 64 KiB it isn't")
  func size() throws {
    let line = "store: shop\n#"
    let largest = line + String(repeating: "x", count: Ticket.longest - line.utf8.count)
    #expect(try parse(largest).submission.store == "shop")
    guard case .tooLarge(let bytes, Ticket.longest) = error(largest + "x") else {
      Issue.record("it was read")
      return
    }
    #expect(bytes == Int64(Ticket.longest + 1))
  }
}
