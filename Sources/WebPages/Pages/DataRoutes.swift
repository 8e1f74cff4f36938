import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// What is in the stores: entities, their objects, and one object with where it comes from.
  func addDataPages(to router: Router<ControlContext>) {
    page(router, "/data") { visit in
      try visit.query().refuseNames(otherThan: [])
      return .page(DataPage(stores: try await backend.stores(StoreCountQuery())).page)
    }
    page(router, "/data/{store}/{entity}") { try await objects($0) }
    page(router, "/data/{store}/{entity}/{number}") { try await object($0) }
  }

  /// The entity that the path says.
  func dataEntity(_ visit: Visit) async throws -> DataEntity {
    let store = try await backend.store(visit.name("store"), StoreCountQuery(counts: false))
    let name = try visit.name("entity")
    guard let entity = DataEntity(name, in: store) else {
      throw ControlError.noSuchEntity(name, known: store.entities.map(\.name))
    }
    return entity
  }

  /// A page of objects, as a table.
  private func objects(_ visit: Visit) async throws -> PageAnswer {
    var view = try DataTableView(parsing: visit.request.uri.query ?? "")
    let entity = try await dataEntity(visit)
    if view.columns == entity.usualColumns { view.columns = [] }
    // Addresses with a pair for each box would be long.
    if view.isOfForm { return .redirect(.objects(entity.store.name, entity.name, view.query)) }
    var shown = DataTablePage(entity: entity, view: view)
    shown.mayEdit = mayOperate(visit)
    do {
      shown.objects = DataRows(try await backend.objects(shown.query, by: visit.peer))
      if view.isCounted { shown.matching = try await backend.count(shown.query, by: visit.peer) }
      // They aren't fetched again with every change.
      if !RequestCheck.isOfScript(visit.request) {
        shown.facets = try await facets(of: entity, view, by: visit.peer)
      }
    } catch let error as ControlError {
      shown.mistake = try Self.mistake(error)
    }
    let status = shown.mistake.map { HTTPResponse.Status(code: $0.status) }
    return .page(shown.page, status ?? .ok)
  }

  /// What the backend refuses about a query, for the page that shows the query's form.
  /// - Throws: the error, if it isn't about the query.
  private static func mistake(_ error: ControlError) throws -> Problem {
    switch error {
    case .invalid, .timeLimit, .tooComplex:
      var problem = error.problem
      problem.status = 400
      return problem
    case .forbidden: return error.problem
    default: throw error
    }
  }

  /// One object.
  private func object(_ visit: Visit) async throws -> PageAnswer {
    try visit.query().refuseNames(otherThan: [])
    let text = try visit.name("number")
    guard let number = Int64(text) else {
      throw ControlError.invalid(field: "number", reason: "'\(text)' isn't an object's number")
    }
    let entity = try await dataEntity(visit)
    var shown = DataObjectPage(entity: entity, number: number)
    shown.mayEdit = mayOperate(visit)
    shown.values = DataRows(try await backend.objects(shown.query(shown.columns), by: visit.peer))
    guard !shown.values.isEmpty else {
      throw Problem(
        status: 404, code: "no_such_object", title: "No such object",
        detail: "\(entity.store.name) has no \(entity.name) with the number \(number).",
        hint: "It may have been deleted.")
    }
    do {
      // Apart from the values, since counting may take its time.
      if !shown.counts.isEmpty {
        shown.numbers = DataRows(try await backend.objects(shown.query(shown.counts), by: visit.peer))
      }
    } catch let error as ControlError {
      _ = try Self.mistake(error)
    }
    do {
      let query = OriginQuery(
        entity: entity.name, store: entity.store.name, predicate: entity.predicate(of: number), limit: 1)
      shown.steps = try await backend.origins(query, by: visit.peer).objects.first?.steps ?? []
    } catch let error as ControlError {
      shown.unknownOrigin = try Self.mistake(error)
    }
    return .page(shown.page)
  }
}

/// An answer's rows, by the names of its columns.
struct DataRows: Sendable {
  private let places: [String: Int]
  private var rows: [[JSONValue]] = []
  /// How many objects match altogether, where the answer says it.
  private(set) var matching: Int?

  /// No rows.
  init() { places = [:] }

  init(_ answer: ObjectPage) {
    places = Dictionary(answer.columns.enumerated().map { ($1, $0) }) { first, _ in first }
    rows = answer.rows
    matching = answer.count
  }

  var count: Int { rows.count }
  var isEmpty: Bool { rows.isEmpty }

  /// The value of a column; null where the answer doesn't have it.
  func value(_ column: String, ofRow row: Int) -> JSONValue {
    guard let place = places[column], rows.indices.contains(row) else { return .null }
    return rows[row].indices.contains(place) ? rows[row][place] : .null
  }

  /// The value of a column of whole numbers.
  func number(_ column: String, ofRow row: Int) -> Int64? {
    guard case .int(let number) = value(column, ofRow: row) else { return nil }
    return number
  }
}
