import ControlAPI

extension JobList {
  /// The jobs as `ladectl list` shows them.
  var table: TextTable {
    TextTable(
      columns: [
        .init("ID", .right), .init("STATE"), .init("LANE"), .init("PRI", .right), .init("ENTITY"), .init("SOURCE"),
        .init("DONE", .right), .init("RECORDS", .right), .init("REJECTED", .right), .init("SUBMITTED"),
      ],
      rows: jobs.map { job in
        [
          "\(job.id)", .init(job.state.rawValue, Style.ink(of: job.state)), .init(job.lane), "\(job.priority)",
          .init(job.entity), .init(job.source),
          .init(ProgressLine.percent(job.progress).map { "\($0) %" } ?? ""),
          .init(Quantity.count(job.progress.records)),
          .init(Quantity.count(job.progress.rejected), job.progress.rejected > 0 ? .yellow : nil),
          .init(Quantity.time(job.submittedAt)),
        ]
      })
  }
}
