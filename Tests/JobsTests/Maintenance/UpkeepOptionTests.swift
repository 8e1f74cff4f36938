import Foundation
import Testing

@testable import Jobs

@Suite("Options of upkeep", .timeLimit(.minutes(20)))
struct UpkeepOptionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let kind: String
    let options: String
    let expected: String
    var testDescription: String { "\(kind) \(options)" }
  }

  @Test(
    "what can't be followed is refused for good, and says what can be",
    arguments: [
      Case(
        kind: "vacuum", options: #"{"pagse": 3}"#, expected: "there is no option pagse; there are incremental, pages"),
      Case(kind: "vacuum", options: #"{"pages": 3}"#, expected: "pages goes with incremental"),
      Case(kind: "vacuum", options: #"{"incremental": true, "pages": 0}"#, expected: "at least one page"),
      Case(kind: "vacuum", options: #"{"incremental": true, "step": 0}"#, expected: "from 1 to 1000000"),
      Case(kind: "vacuum", options: #"{"incremental": "yes"}"#, expected: "incremental: "),
      Case(
        kind: "vacuum", options: #"{"incremental": true, "prepare_incremental": true}"#, expected: "of the whole file"),
      Case(kind: "optimise", options: #"{"sample": -1}"#, expected: "sample is -1"),
      Case(kind: "optimise", options: #"{"depth": 1}"#, expected: "there are sample"),
      Case(kind: "checkpoint", options: #"{"mode": "hard"}"#, expected: "there are passive, full, restart, truncate"),
      Case(kind: "checkpoint", options: #"{"patience": -1}"#, expected: "patience is -1"),
      Case(kind: "reindex", options: #"{"entities": "Person"}"#, expected: "entities: "),
    ])
  func refused(_ one: Case) async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    let end = try await queue.run(.upkeep(one.kind, one.options, attempts: 5))
    #expect(end.state == .discarded && end.failureCode == "bad_options" && end.attempt == 1)
    #expect(end.reason?.contains(one.expected) == true, "\(end.reason ?? "")")
    await queue.drain(timeout: .seconds(10))
  }

  @Test(
    "a submission with an option out of range is refused before a job is made of it",
    arguments: [
      Case(kind: "checkpoint", options: #"{"patience": -1}"#, expected: "patience is -1"),
      Case(kind: "checkpoint", options: #"{"patience": 86401}"#, expected: "from 0 to 86400 seconds"),
      Case(kind: "optimise", options: #"{"sample": -1}"#, expected: "sample is -1"),
      Case(kind: "optimise", options: #"{"sample": 1000000001}"#, expected: "to 1000000000"),
    ])
  func checked(_ one: Case) throws {
    let house = try UpkeepHouse()
    let failure = try #require(
      #expect(throws: JobFailure.self) {
        try OperationCatalogue.standard.check(.upkeep(one.kind, one.options), in: house.data.model)
      })
    #expect(failure.code == "bad_options" && failure.message.contains(one.expected), "\(failure.message)")
  }

  @Test("a store that isn't there is named", arguments: ["vacuum", "optimise", "checkpoint", "reindex"])
  func noStore(kind: String) async throws {
    let house = try UpkeepHouse()
    let queue = try await house.queue()
    let end = try await queue.run(JobSubmission.upkeep(kind).with { $0.store = "mian" })
    #expect(end.state == .discarded && end.failureCode == "no_such_store")
    #expect(end.reason?.contains("there is no store mian; there are main") == true)
    await queue.drain(timeout: .seconds(10))
  }
}
