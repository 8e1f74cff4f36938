package import ControlAPI
package import ControlServer
import Synchronization

/// Objects that can be edited, in memory: those of ``MemoryObjects`` that are routes. What a test lets others do to one is here.
package final class MemoryEdits: Sendable {
  private struct State {
    var checked: [ObjectEdit] = []
    var titles: [Int64: String] = [:]
    var isRefused = false
  }

  private let state = Mutex(State())

  package init() {}

  /// The edits that were checked.
  package var checked: [ObjectEdit] { state.withLock { $0.checked } }

  /// Whether nobody may edit.
  package var isRefused: Bool {
    get { state.withLock { $0.isRefused } }
    set { state.withLock { $0.isRefused = newValue } }
  }

  /// Gives a route another title, as somebody else would.
  package func setTitle(_ title: String, of number: Int64) { state.withLock { $0.titles[number] = title } }

  func note(_ edit: ObjectEdit) { state.withLock { $0.checked.append(edit) } }

  func title(of number: Int64) -> String { state.withLock { $0.titles[number] ?? "Title \(number)" } }

  func version(of number: Int64) -> String { state.withLock { $0.titles[number].map { "after \($0)" } ?? "first" } }
}

extension MemoryBackend {
  package func groups(_ query: GroupQuery, by peer: Peer) async throws -> ObjectGroups {
    switch query.by {
    case "night":
      ObjectGroups(
        entity: query.entity, by: query.by,
        groups: [.init(value: .bool(true), count: 70), .init(value: .bool(false), count: 50)], hasMore: false)
    case "depot", "home":
      ObjectGroups(
        entity: query.entity, by: query.by,
        groups: [.init(value: .string("D2"), number: 3, count: 41), .init(value: .null, count: 2)], hasMore: true)
    case "title":
      ObjectGroups(
        entity: query.entity, by: query.by,
        groups: [
          .init(value: .string(MemoryObjects.hostile), count: 3), .init(value: .string("it's"), count: 1),
          .init(value: .string(""), count: 1),
        ], hasMore: false)
    case "in": throw ControlError.timeLimit(.seconds(1), key: "queries.members")
    default: throw ControlError.invalid(field: "by", reason: "\(query.entity) has no property \(query.by)")
    }
  }

  package func editable(
    _ number: Int64?, of entity: String, in store: String?, by peer: Peer
  ) async throws -> EditableObject {
    guard entity == "Route" else { throw ControlError.noSuchEntity(entity, known: ["Route"]) }
    if let number, !MemoryObjects.numbers.contains(number) {
      throw ControlError.noSuchObject(number, of: entity, store: store ?? "main")
    }
    let known = number != nil
    return EditableObject(
      entity: entity, store: store ?? "main", object: number, version: number.map(edited.version),
      properties: [
        .init(name: "code", type: "Integer 64", isOptional: false, value: known ? .int(.max) : .int(0)),
        .init(name: "title", type: "String", value: number.map { .string(edited.title(of: $0)) } ?? .null),
        .init(name: "night", type: "Boolean", value: known ? .bool(true) : .null),
        .init(name: "fare", type: "Decimal", value: known ? .string("1.10") : .null),
        .init(name: "map", type: "Binary", value: known ? .string("AQIDBA==") : .null, refusal: "it is binary"),
        .init(name: "opened", type: "Date", value: known ? .string("2026-03-01T12:00:00Z") : .null),
        .init(
          name: "depot", type: "String", entity: "Depot", key: "title", value: known ? .string("D1") : .null,
          number: known ? 2 : nil),
      ],
      refusal: edited.isRefused
        ? ControlError.forbidden(reason: "Only operators may submit jobs of the kind edit.").problem : nil)
  }

  package func check(_ edit: ObjectEdit, of entity: String, by peer: Peer) async throws -> EditCheck {
    edited.note(edit)
    if let number = edit.object, let version = edit.version, version != edited.version(of: number) {
      return EditCheck(isStale: true)
    }
    if edit.isDeletion {
      return EditCheck(extent: [
        .init(entity: "Route", changed: 0, deleted: 1), .init(entity: "Stop", changed: 1200, deleted: 0),
      ])
    }
    guard edit.values["title"] != .string("refused") else {
      return EditCheck(faults: [.init(property: "title", reason: "Route.title has more than 6 characters")])
    }
    return EditCheck(extent: [.init(entity: entity, changed: 1, deleted: 0)])
  }
}
