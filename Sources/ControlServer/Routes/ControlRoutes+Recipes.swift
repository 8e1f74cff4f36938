import ControlAPI
import Hummingbird

extension ControlRoutes {
  func recipe(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.recipe(context.name("recipe")))
  }

  func saveRecipe(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let draft = try await request.decoded(as: RecipeDraft.self)
    let (name, peer) = try await (context.name("recipe"), context.peer())
    return try .json(await backend.save(draft, as: name, by: peer))
  }

  func removeRecipe(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let (name, peer) = try await (context.name("recipe"), context.peer())
    return try .json(await backend.removeRecipe(name, by: peer))
  }

  func columns(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let columns = try await request.decoded(as: ModelDiffRequest.self)
    try Self.checkIsAbsolute(columns.source)
    let peer = try await context.peer()
    return try .json(await context.untilGone { try await backend.columns(columns, by: peer) })
  }
}
