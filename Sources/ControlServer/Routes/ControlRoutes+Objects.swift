import ControlAPI
import Hummingbird

extension ControlRoutes {
  func objects(_ request: Request, _ context: ControlContext) async throws -> Response {
    try .json(await backend.objects(ObjectQuery(entity: context.entity(), request.query())))
  }

  func count(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try ObjectQuery(entity: context.entity(), request.query())
    return try .json(ObjectCount(entity: query.entity, count: await backend.count(query)))
  }
}
