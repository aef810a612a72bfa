// The sections, in the order of the navigation, and who sees them.
import { words } from "../shared/i18n.js";
import { Audit } from "./audit.js";
import { Cache } from "./cache.js";
import { Channels } from "./channels.js";
import { Conversations } from "./conversations.js";
import { Dashboard } from "./dashboard.js";
import { Documents } from "./documents.js";
import { Evaluation } from "./evaluation.js";
import { Faqs } from "./faqs.js";
import { Gaps } from "./gaps.js";
import { HitTest } from "./hit-test.js";
import { Jobs } from "./jobs.js";
import { Keys } from "./keys.js";
import { Models } from "./models.js";
import { People } from "./people.js";
import { Profile } from "./profile.js";
import { Quality } from "./quality.js";
import { Reports } from "./reports.js";
import { Sources } from "./sources.js";
import { Tickets } from "./tickets.js";
import { Tuning } from "./tuning.js";
import { Vocabulary } from "./vocabulary.js";
import { Webhooks } from "./webhooks.js";
import { Widget } from "./widget.js";

const t = words({
  zh: {
    overview: "概览", reports: "团队报表", documents: "文档", faqs: "精选问答", "hit-test": "命中测试", sources: "数据来源", vocabulary: "词表", tuning: "检索调优", quality: "质量检查", evaluation: "评测", gaps: "知识缺口", conversations: "会话", tickets: "工单", profile: "助手设定", models: "大模型", widget: "网站挂件", jobs: "定时任务", channels: "渠道", cache: "缓存", people: "成员与客服组", keys: "密钥", audit: "审计日志", webhooks: "Webhook",
    run: "运行", knowledge: "知识库", service: "服务", setup: "设置",
  },
  en: {
    overview: "Overview", reports: "Team reports", documents: "Documents", faqs: "Curated answers", "hit-test": "Hit test", sources: "Sources", vocabulary: "Vocabulary", tuning: "Tuning", quality: "Quality", evaluation: "Evaluation", gaps: "Gaps", conversations: "Conversations", tickets: "Tickets", profile: "Assistant", models: "Language models", widget: "Website widget", jobs: "Jobs", channels: "Channels", cache: "Cache", people: "People and teams", keys: "Keys", audit: "Audit log", webhooks: "Webhooks",
    run: "Operation", knowledge: "Knowledge", service: "Service", setup: "Setup",
  },
});

const group = (name) => ({ name, title: () => t(name) });
export const GROUPS = ["run", "knowledge", "service", "setup"].map(group);

export const EVERYBODY = ["admin", "lead", "agent"];
const LEADS = ["admin", "lead"];
const section = (name, inGroup, view, roles = ["admin"]) => ({ name, group: inGroup, view, roles, title: () => t(name) });
const SECTIONS = [
  section("overview", "run", Dashboard),
  section("reports", "run", Reports, LEADS),
  section("documents", "knowledge", Documents, EVERYBODY),
  section("sources", "knowledge", Sources, EVERYBODY),
  section("faqs", "knowledge", Faqs, EVERYBODY),
  section("hit-test", "knowledge", HitTest, EVERYBODY),
  section("vocabulary", "knowledge", Vocabulary, EVERYBODY),
  section("quality", "knowledge", Quality, EVERYBODY),
  section("tuning", "knowledge", Tuning, EVERYBODY),
  section("evaluation", "knowledge", Evaluation, EVERYBODY),
  section("gaps", "knowledge", Gaps, EVERYBODY),
  section("conversations", "service", Conversations, EVERYBODY),
  section("tickets", "service", Tickets, EVERYBODY),
  section("profile", "setup", Profile, EVERYBODY),
  section("models", "setup", Models),
  section("widget", "setup", Widget),
  section("jobs", "setup", Jobs, EVERYBODY),
  section("cache", "setup", Cache),
  section("people", "setup", People, LEADS),
  section("keys", "setup", Keys),
  section("audit", "setup", Audit),
  section("channels", "setup", Channels),
  section("webhooks", "setup", Webhooks),
];

// What people who serve customers see, too, is without what only an administrator may change.
export const sectionsFor = (roles) => SECTIONS.filter((item) => item.roles.some((role) => roles.includes(role)));
export const sectionOf = (sections, name) => sections.find((item) => item.name === name);
