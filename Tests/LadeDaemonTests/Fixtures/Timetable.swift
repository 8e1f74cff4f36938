/// Stops, and trips from them: sets of two files and a trigger.
enum Timetable {
  static let model = ModelText(
    ModelText.entity(
      "Stop", unique: ["code"],
      [.attribute("code"), .attribute("name"), .toMany("trips", "Trip", inverse: "stop")]),
    ModelText.entity(
      "Trip", unique: ["number"],
      [.attribute("number", "Integer 64"), .toOne("stop", "Stop", inverse: "trips", by: "code")]))

  static let usual = "of: [\"stops-*.csv\", \"trips-*.csv\"], trigger: \"*.done\""

  /// - Parameter set: what its `set` says.
  static func recipe(_ set: String = usual, _ more: String = "") -> String {
    "  timetable: { store: main, entity: \"*\", set: { \(set) }\(more) }"
  }

  static let stops = "code,name\nA,Quay\nB,Island\n"
  static let trips = "number,stop\n1,A\n2,B\n3,A\n"

  /// The files of a set that is as it should be, without the trigger.
  static func files(_ key: String) -> [String: String] { ["stops-\(key).csv": stops, "trips-\(key).csv": trips] }
}
