# SPDX-License-Identifier: Apache-2.0
# Contenders that use the locks of sidekiq-unique-jobs, each as the job that one thread of Sidekiq executes.
#
#   ruby sidekiq_client.rb FOLDER HOST:PORT      FOLDER: where the gems were installed
#
# Commands, one a line:
#   acquire NAME KEY KIND     KEY: <digest>:LOCKED, as KIND has it; tried again until it is in, as a job is that was put
#                             back; KIND: while_executing (two at a time), until_executed (from when the job was pushed,
#                             one at a time); answers "held NAME JOB-ID"
#   release NAME              answers "released NAME", or "failed NAME" when it had none any more
# Answers "ready" first; the end of the input ends the program. A lock's time is three minutes.
Gem.use_paths(ARGV[0], [ARGV[0]])
require "sidekiq"
require "sidekiq-unique-jobs"
require "securerandom"

$stdout.sync = true
Sidekiq.configure_client do |config|
  config.redis = { url: "redis://#{ARGV[1]}" }
  config.logger = Logger.new(IO::NULL)
end

class OrderJob
  include Sidekiq::Job
end

# One job. Its lock is given back by the thread that took it, as Sidekiq's would.
class Contender
  LOCKS = {
    "while_executing" => SidekiqUniqueJobs::Lock::WhileExecuting,
    "until_executed" => SidekiqUniqueJobs::Lock::UntilExecuted,
  }.freeze

  def initialize(name, key, kind)
    @name = name
    @job = {
      "class" => "OrderJob", "queue" => "default", "args" => [], "jid" => SecureRandom.hex(12), "lock" => kind,
      "lock_digest" => key.delete_suffix(":LOCKED").delete_suffix(":RUN"),
      "lock_limit" => kind == "while_executing" ? 2 : 1, "lock_ttl" => 180, "lock_timeout" => 1,
    }
    @lock = LOCKS.fetch(kind).new(@job, nil)
    @told = Queue.new
    @thread = Thread.new { kind == "while_executing" ? execute : hold_from_push }
  end

  def release
    @told << :release
  end

  private

  def execute
    ended = false
    until ended
      @lock.execute do
        puts "held #{@name} #{@job['jid']}"
        @told.pop
        ended = true
      end
    end
    puts "released #{@name}"
  end

  # A client's middleware takes it when it pushes the job; whoever executes the job gives it back after it.
  def hold_from_push
    sleep 0.02 until @lock.lock
    puts "held #{@name} #{@job['jid']}"
    @told.pop
    executed = false
    @lock.execute { executed = true }
    puts "#{executed ? 'released' : 'failed'} #{@name}"
  end
end

contenders = {}
puts "ready"
while (words = $stdin.gets&.split)
  case words[0]
  when "acquire" then contenders[words[1]] = Contender.new(*words[1..3])
  else contenders.fetch(words[1]).release
  end
end
exit!
