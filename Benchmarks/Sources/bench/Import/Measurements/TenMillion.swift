import BenchSupport

/// Ten times as many rows, once, against ours with the standard load: memory and speed mustn't depend on how many.
struct TenMillion: Measurement {
  let name = "ten-million"
  let summary = "10,000,000 rows, against ours with the standard load: peak memory, and rows/s (once)"

  private static let times = 10

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    guard let small = try bench.contest([bench.ours(load)])[0] else { return [] }
    let largeLoad = try bench.load(rows: load.rows * Self.times)
    var side = bench.ours(largeLoad)
    side.mostRuns = 1
    guard let large = try bench.contest([side], rows: largeLoad.rows)[0] else { return [] }
    let rows = grouped(largeLoad.rows)
    return [
      ImportFigure(
        BenchResult(
          "peak memory at \(rows) rows", ours: large.peakMiB, peer: small.peakMiB, unit: "MiB",
          goal: .ratioAtMost(1.1)), peer: "ours, \(grouped(load.rows)) rows"),
      ImportFigure(
        BenchResult(
          "standard load of \(rows) rows", ours: large.rate(largeLoad.rows), peer: small.rate(load.rows),
          unit: "rows/s", goal: .ratioAtLeast(0.8)), peer: "ours, \(grouped(load.rows)) rows"),
    ]
  }

  private func grouped(_ number: Int) -> String { figure(Double(number)) }
}
