import ControlAPI
import Hummingbird

// MARK: Edits, and objects counted by their values

extension ControlRoutes {
  func object(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try request.query()
    try query.refuseNames(otherThan: ["store"])
    let (entity, text) = try (context.name("entity"), context.name("number"))
    var number: Int64?
    if text != "new" {
      guard let given = Int64(text), given > 0 else {
        throw ControlError.invalid(
          field: "number", reason: "'\(text)' isn't an object's number", hint: "'new' has the defaults of a new object."
        )
      }
      number = given
    }
    let peer = try await context.peer()
    return try .json(
      await context.untilGone { [number] in
        try await backend.editable(number, of: entity, in: query["store"], by: peer)
      })
  }

  func checkEdit(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let edit = try await request.decoded(as: ObjectEdit.self)
    let (entity, peer) = try await (context.name("entity"), context.peer())
    return try .json(await context.untilGone { try await backend.check(edit, of: entity, by: peer) })
  }

  func groups(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try GroupQuery(entity: context.name("entity"), request.query())
    let peer = try await context.peer()
    return try .json(await context.untilGone { try await backend.groups(query, by: peer) })
  }
}
