# SPDX-License-Identifier: Apache-2.0
# Contenders that migrate a database as Rails does, each for itself: the lock is the one that ActiveRecord's Migrator takes.
#
#   ruby rails_client.rb HOST:PORT DATABASE USER mysql2|postgresql
#
# Commands, one a line:
#   acquire NAME LOCK         runs one migration, which is not over before NAME is told; answers "held NAME", or "refused NAME"
#                             where another migrates (ConcurrentMigrationError). LOCK says nothing: the database does
#   release NAME              answers "released NAME", or "failed NAME" when it had no lock any more
# Answers "ready" first; the end of the input ends the program.
require "logger"
require "active_record"

$stdout.sync = true
host, port = ARGV[0].split(":")
ActiveRecord::Base.establish_connection(adapter: ARGV[3], host: host, port: port.to_i, database: ARGV[1], username: ARGV[2], pool: 20)
ActiveRecord::Migration.verbose = false

class Contender
  attr_reader :told

  def initialize(name, version)
    @name = name
    @version = version
    @told = Queue.new
    Thread.new { run }
  end

  private

  # In no transaction of its own: else its end would be told as the migration's.
  def migration
    name = @name
    told = @told
    Class.new(ActiveRecord::Migration::Current) do
      disable_ddl_transaction!
      define_method(:up) do
        puts "held #{name}"
        told.pop
      end
    end.new("Contender", @version)
  end

  def run
    migrator(migration).migrate
    puts "released #{@name}"
  rescue ActiveRecord::ConcurrentMigrationError => e
    puts "#{e.message.include?('release') ? 'failed' : 'refused'} #{@name}"
  rescue StandardError => e
    puts "failed #{@name} #{e.class} #{e.message.lines.first}"
  end

  # Since Rails 7.1 it is told of a table of its own facts, too.
  def migrator(migration)
    pool = ActiveRecord::Base.connection_pool
    facts =
      if pool.respond_to?(:schema_migration)
        [pool.schema_migration, pool.internal_metadata]
      elsif ActiveRecord::Base.connection.respond_to?(:internal_metadata)
        [ActiveRecord::Base.connection.schema_migration, ActiveRecord::Base.connection.internal_metadata]
      else
        [ActiveRecord::Base.connection.schema_migration]
      end
    ActiveRecord::Migrator.new(:up, [migration], *facts)
  end
end

contenders = {}
puts "ready"
while (words = $stdin.gets&.split)
  if words[0] == "acquire"
    contenders[words[1]] = Contender.new(words[1], contenders.size + 1)
  else
    contenders.fetch(words[1]).told << :release
  end
end
exit!
