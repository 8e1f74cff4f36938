import ControlAPI
import Synchronization

/// The live result of a standing query: on a terminal a full-screen table, in a pipe a line for each insertion, deletion and
/// change.
struct FetchWatch: Sendable {
  let session: Session
  let query: WatchQuery

  /// Runs until a key, a signal or the daemon ends it.
  /// - Throws: ``ControlClientError``.
  func run() async throws {
    if session.terminal.isInteractive, !session.json { try await draw() } else { try await write() }
  }

  // MARK: On a terminal

  private enum Change: Sendable {
    case event(WatchEvent)
    case failed(any Error)
  }

  private struct Content: ScreenContent {
    let query: WatchQuery
    let style: Style
    var columns: [String] = []
    var rows: [WatchRow] = []
    var failure: (any Error)?

    mutating func take(_ change: Change, at time: Double) -> ScreenUrgency {
      switch change {
      case .event(.result(let result)):
        (columns, rows) = (result.columns, result.rows)
        return .now
      case .event(.changes(let changes)):
        rows = changes.applied(to: rows)
        return .soon
      case .event(.problem(let problem)): failure = ControlClientError.refused(problem)
      // The query starts again, and its whole result arrives.
      case .event(.lagged): return .soon
      case .failed(let error): failure = error
      }
      return .end
    }

    func lines(columns width: Int, rows height: Int) -> [String] {
      let page = ObjectPage(entity: query.entity, columns: columns, rows: rows.map(\.values))
      let room = max(height - 2, 0)
      let table = page.table.rendered(width: width, style: style).split(
        separator: "\n", omittingEmptySubsequences: false)
      var lines = table.dropLast().prefix(room).map(String.init)
      if rows.isEmpty { lines = [style("no objects".truncated(to: width), .dim)] }
      lines += Array(repeating: "", count: max(height - 1 - lines.count, 0))
      let hidden = rows.count - max(room - 1, 0)
      let count = Quantity.count(rows.count, "object") + (hidden > 0 ? ", \(Quantity.count(hidden)) of them below" : "")
      return Array(
        (lines + [style("\(query.entity.printable): \(count); q leaves".truncated(to: width), .dim)]).suffix(
          height))
    }
  }

  private func draw() async throws {
    var show = ScreenShow(Content(query: query, style: session.terminal.style), on: session.terminal)
    let content = await show.run([
      { hand in
        do {
          while !Task.isCancelled {
            try await session.client.watch(query) { event in
              hand(.event(event))
              return event != .lagged
            }
          }
        } catch {
          hand(.failed(error))
        }
      }
    ])
    if let failure = content.failure, !(failure is CancellationError) { throw failure }
  }

  // MARK: In a pipe

  private func write() async throws {
    let columns = Mutex<[String]>([])
    while true {
      try await session.client.watch(query) { event in
        switch event {
        case .result(let result):
          columns.withLock { $0 = result.columns }
          let page = ObjectPage(entity: result.entity, columns: result.columns, rows: result.rows.map(\.values))
          session.terminal.writeData(
            session.json ? try JSONText.line(result) : page.table.rendered(width: nil, style: .plain))
        case .changes(let changes):
          session.terminal.writeData(
            session.json ? try JSONText.line(changes) : Self.lines(changes, columns.withLock { $0 }))
        case .lagged: return false
        case .problem(let problem): throw ControlClientError.refused(problem)
        }
        return true
      }
    }
  }

  /// `+ name=Ada, age=36` for an insertion, `-` for a deletion, `~` for a change.
  private static func lines(_ changes: WatchChanges, _ columns: [String]) -> String {
    changes.changes.filter { $0.kind != .move || $0.values != nil }.map { change in
      let mark =
        switch change.kind {
        case .insert: "+"
        case .delete: "-"
        case .update, .move: "~"
        }
      let values = zip(columns, change.values ?? []).map { "\($0)=\($1.shown)" }.joined(separator: ", ")
      return "\(mark) \(values.isEmpty ? "object \(change.id)" : values.printable)\n"
    }.joined()
  }
}
