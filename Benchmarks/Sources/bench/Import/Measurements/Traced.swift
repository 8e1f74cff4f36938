import BenchSupport
import Foundation
import Synchronization

/// The standard load with the origin of each row, against ours without it.
struct Traced: Measurement {
  let name = "lineage"
  let summary = "the standard load with the origin of each row, against ours without it"

  func measure(on bench: Workbench) throws -> [ImportFigure] {
    let load = try bench.load()
    let sizes = Mutex<[String: Int]>([:])
    func side(_ model: Ours.Model, _ lineage: Bool) -> Side {
      var side = bench.ours(load, model, name: lineage ? "ours, with lineage" : "ours")
      side.run = { database in
        let run = try Ours(model: model, lineage: lineage).run(database, from: load.file, expecting: [load.rows, 0, 0])
        let size = try FileManager.default.attributesOfItem(atPath: database.path)[.size] as? Int
        sizes.withLock { $0["\(model) \(lineage)"] = size }
        return run
      }
      return side
    }
    var figures: [ImportFigure] = []
    for (name, model) in [("lineage", Ours.Model.plain), ("lineage without the index", .withoutIndex)] {
      let standings = try bench.contest([side(model, true), side(model, false)])
      guard let ours = standings[0] else { continue }
      figures.append(ImportFigure(name, rows: load.rows, ours, standings[1], peer: "ours", atLeast: 0.95))
    }
    let (with, without) = sizes.withLock {
      ($0["\(Ours.Model.withoutIndex) true"], $0["\(Ours.Model.withoutIndex) false"])
    }
    if let with, let without {
      let bytes = Double(with - without) / Double(load.rows)
      figures.append(
        ImportFigure(
          BenchResult("bytes per row", ours: bytes, peer: nil, unit: "bytes", goal: .oursAtMost(16)), peer: ""))
    }
    return figures
  }
}
