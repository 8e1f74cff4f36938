import Foundation
import Importing
import ManagedObjects
import Testing

@testable import Jobs

@Suite("Editing one object", .timeLimit(.minutes(20)))
struct EditTests {
  /// Reads an item on this thread; nothing of it may outlive the call, since a test goes on elsewhere after each wait.
  private func read<Value>(_ code: String, in house: Warehouse, _ body: (ManagedObject) throws -> Value) throws -> Value
  {
    let context = house.context()
    let item = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Item", predicate: .equal("code", .string(code)))
    ).first
    defer { withExtendedLifetime(context) {} }
    return try body(try #require(item))
  }

  @Test("gives the object new values, leads its relationships elsewhere, and says so")
  func values() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    try house.change { context in
      for name in ["Acme", "Bolt"] { try context.insert("Maker").setValue(.string(name), forKey: "name") }
    }
    let number = try read("i00001", in: house) { $0.objectID.number }
    let job = try await house.run(
      "edit", "Item",
      #"{"object": \#(number), "set": {"price": "1.10", "large": "-9007199254740993", "maker": "Bolt"}, "clear": ["text"]}"#
    )
    #expect(job.state == .completed && job.progress.updated == 1, "\(job.reason ?? "")")
    #expect(job.note == "Item \(number): changed")
    let maker = try read("i00001", in: house) { changed in
      #expect(changed.value(forKey: "price") == .decimal(try #require(Decimal(string: "1.1"))))
      #expect(changed.value(forKey: "large") == .int(-9_007_199_254_740_993))
      let maker: ManagedObject? = changed.object(changed.entity.propertiesByName["maker"]?.slot ?? 0)
      #expect(maker?.value(forKey: "name") == .string("Bolt"))
      return try #require(maker).objectID.number
    }
    let none = try await house.run("edit", "Item", #"{"object": \#(number), "clear": ["maker"]}"#)
    #expect(none.progress.updated == 1)
    #expect(try read("i00001", in: house) { $0.value(forKey: "maker") } == .null)
    let byNumber = try await house.run(
      "edit", "Item", #"{"object": \#(number), "set": {"maker.objectID": "\#(maker)"}}"#)
    #expect(byNumber.progress.updated == 1, "\(byNumber.reason ?? "")")
    let same = try await house.run("edit", "Item", #"{"object": \#(number), "set": {"price": "1.1"}}"#)
    #expect(same.state == .completed && same.progress.unchanged == 1)
  }

  @Test("leaves an object alone that isn't as it was seen")
  func versions() async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let (number, version) = try read("i00001", in: house) { ($0.objectID.number, RowVersion.text(of: $0)) }
    try house.change { context in
      let other = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", fetchLimit: 1)).first)
      try other.setValue(.string("theirs"), forKey: "text")
    }
    let wish = #"{"object": \#(number), "version": "\#(version)", "set": {"middle": 9}}"#
    let late = try await house.run("edit", "Item", wish)
    #expect(late.state == .discarded && late.failureCode == "edit_conflict", "\(late.reason ?? "")")
    // The message names the version to say.
    let current = try read("i00001", in: house) { now in
      #expect(now.value(forKey: "middle") == .int(1) && now.value(forKey: "text") == .string("theirs"))
      return RowVersion.text(of: now)
    }
    #expect(late.reason?.contains(current) == true && current != version && current.count == 16)
    let again = try await house.run("edit", "Item", wish.replacing(version, with: current))
    #expect(again.state == .completed && again.progress.updated == 1, "\(again.reason ?? "")")
  }

  @Test("inserts and deletes, and each can be taken back, though the entity isn't traced")
  func undo() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    let number = try read("i00002", in: house) { $0.objectID.number }
    let new = try await house.run("edit", "Item", #"{"set": {"code": "new", "middle": 5}}"#)
    #expect(new.state == .completed && new.progress.inserted == 1, "\(new.reason ?? "")")
    let change = try await house.run("edit", "Item", #"{"object": \#(number), "set": {"text": "typed"}}"#)
    let removal = try await house.run("edit", "Item", #"{"object": \#(number), "delete": true}"#)
    #expect(removal.state == .completed && removal.progress.deleted >= 1, "\(removal.reason ?? "")")
    #expect(try house.count("Item") == 2)
    for job in [removal, change, new] {
      let undone = try await house.run("undo", nil, #"{"job": \#(job.id)}"#)
      #expect(undone.state == .completed && undone.note == nil, "\(undone.reason ?? undone.note ?? "")")
    }
    #expect(try house.count("Item") == 2 && house.count("Item", "code == 'new'") == 0)
    try read("i00002", in: house) { back in
      #expect(back.objectID.number == number && back.value(forKey: "text") == .null)
      let steps = try RowHistory.steps(of: back.objectID, in: house.context())
      #expect(steps.contains { $0.job == change.id && $0.submitter == "anna" && $0.kind == "edit" })
    }
  }

  @Test(
    "what can't be done is refused, and nothing is written",
    arguments: [
      (#"{"object": 1}"#, "there is nothing to change"), (#"{"delete": true}"#, "delete is of an object"),
      (#"{"object": 1, "delete": true, "set": {"text": "x"}}"#, "gets no values"),
      (#"{"object": 1, "set": {"txt": "x"}}"#, "did you mean text?"),
      (#"{"object": 1, "clear": ["code"]}"#, "Item.code is required"),
      (#"{"object": 1, "set": {"small": 40000}}"#, "is out of range"),
      (#"{"object": 1, "set": {"labels": 1}}"#, "leads to many objects"),
      (#"{"object": 1, "set": {"maker.objectID": "x"}}"#, "isn't the number of an object"),
      (#"{"object": 1, "set": {"text": "x"}, "clear": ["text"]}"#, "in both set and clear"),
      (#"{"object": 0, "set": {"text": "x"}}"#, "whole number from 1"),
      (#"{"version": "x", "set": {"code": "x"}}"#, "a new object has no version"),
      (#"{"object": 1, "sett": {}}"#, "there is no option sett"),
      (#"{"object": 99999, "set": {"text": "x"}}"#, "there is no Item 99999"),
      (#"{"object": 1, "set": {"maker": "Nobody"}}"#, "there is no Maker whose name is 'Nobody'"),
    ])
  func refusals(_ options: String, _ words: String) async throws {
    let house = try await Warehouse()
    try house.fill(1)
    let job = try await house.run("edit", "Item", options)
    #expect(job.state == .discarded && job.reason?.contains(words) == true, "\(job.reason ?? "")")
    #expect(try house.count("Item") == 1 && house.count("Item", "text != NIL") == 0)
  }

  @Test("a value that others have already is refused by the store")
  func uniqueness() async throws {
    let house = try await Warehouse()
    try house.fill(2)
    let number = try read("i00002", in: house) { $0.objectID.number }
    let job = try await house.run("edit", "Item", #"{"object": \#(number), "set": {"code": "i00001"}}"#)
    #expect(job.state == .discarded && job.failureCode == "not_unique", "\(job.reason ?? "")")
  }
}
