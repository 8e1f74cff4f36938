import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
  /// Where PostgreSQL is installed.
  static var onPostgres: Self { .enabled(if: PostgresCluster.programs != nil, "\(PostgresCluster.absence)") }
}
